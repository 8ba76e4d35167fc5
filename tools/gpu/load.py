"""Starts a server, and asks it as many clients at once, each again as soon as it has its answer.

    load.py CLIENTS SECONDS BODY mdmgen serve …

BODY is a line of /v1/generate; every request has a seed of its own.
"""
import http.client, json, subprocess, sys, tempfile, threading, time

address, headers = "127.0.0.1:8177", {"Content-Type": "application/json"}
clients, seconds, body = int(sys.argv[1]), float(sys.argv[2]), json.loads(sys.argv[3])
log = tempfile.TemporaryFile("w+")  # a line for each request
server = subprocess.Popen(sys.argv[4:] + ["--listen", address], stderr=log)


def ask(connection, method, route, data=None):
    connection.request(method, route, data, headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    if answer.status != 200:
        raise OSError(f"{route}: status {answer.status}: {text}")
    return text


def client(n):
    connection = http.client.HTTPConnection(address)
    while time.perf_counter() < end:
        begin = time.perf_counter()
        got = json.loads(ask(connection, "POST", "/v1/generate", json.dumps(body | {"seed": n + clients * len(times)})))
        times.append((time.perf_counter() - begin, got["usage"]["completion_tokens"]))


try:
    for left in range(600, 0, -1):
        try:
            ask(http.client.HTTPConnection(address), "GET", "/readyz")
            break
        except OSError:
            if server.poll() is not None or left == 1:
                sys.exit("the server does not start")
            time.sleep(0.1)
    times, begin = [], time.perf_counter()
    end = begin + seconds
    threads = [threading.Thread(target=client, args=(n,)) for n in range(clients)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    took, waits = time.perf_counter() - begin, sorted(t for t, _ in times)
    print(json.dumps({"clients": clients, "seconds": took, "requests": len(times), "requests_per_second": len(times) / took,
                      "tokens_per_second": sum(n for _, n in times) / took, "median": waits[len(waits) // 2], "p95": waits[len(waits) * 95 // 100]}))
    metrics = ask(http.client.HTTPConnection(address), "GET", "/metrics").splitlines()
    print(*[line for line in metrics if line.startswith("mdmgen_network")], sep="\n")
finally:
    server.terminate()
    server.wait()
    log.seek(0)
    print(*log.readlines()[-3:], sep="", file=sys.stderr)
