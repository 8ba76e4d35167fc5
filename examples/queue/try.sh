#!/usr/bin/env bash
# Runs a job through a real server of NATS JetStream, a process of its own: a worker is killed
# (kill -9), then the server, then both, and the result is compared with that of one process.
# Needs mdmgen, mdmgen-queue and nats-server on the path; the last is built from this repository by
#   (cd queue && go build -o DIR/nats-server github.com/nats-io/nats-server/v2)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
cd "$work"
port=14222
pids=()
cleanup() {
	kill -9 "${pids[@]}" 2>/dev/null || true
	rm -rf "$work"
}
trap cleanup EXIT

serve() {
	nats-server -a 127.0.0.1 -p "$port" -js -sd "$work/store" -l "$work/server.log" &
	server=$!
	pids+=("$server")
	for _ in $(seq 100); do grep -q 'Server is ready' "$work/server.log" 2>/dev/null && break; sleep 0.1; done
}
queue() { local command=$1; shift; mdmgen-queue "$command" --nats "nats://127.0.0.1:$port" "$@"; }
worker() {
	mdmgen-queue work --nats "nats://127.0.0.1:$port" 2>>"$1.log" &
	last=$!
	pids+=("$last")
}
finished() { queue status | sed -n 's/^parts *\([0-9]*\) of.*/\1/p'; }
until_done() { while [ "$(finished)" -lt "$1" ]; do sleep 0.2; done; }

cat "$here/../tale.txt" "$here/../tale.txt" >text.txt
run=(score text.txt --length 32 --draws 8 --batch 2 --threads 1 --seed 1 --json)
serve
queue submit --shards 14 --ack-wait 5s -- "${run[@]}"
worker one; one=$last
worker two; two=$last
until_done 2
kill -9 "$one"; echo "killed a worker, $(finished) of 14 parts done"
worker three; three=$last
until_done 5
kill -9 "$server"; echo "killed the server"
sleep 2; serve; echo "began it again, $(finished) of 14 parts done"
until_done 8
kill -9 "$server" "$two"; echo "killed the server and a worker"
sleep 2; serve; worker four; four=$last; echo "began both again, $(finished) of 14 parts done"
wait "$three" "$four"
queue status
queue fetch -o merged.json
mdmgen "${run[@]}" --quiet -o whole.json
masked() { sed -E 's/"(network|total)":[-+.e0-9]+//g; s/"started":"[^"]*"//g' "$1"; }
cmp <(masked merged.json) <(masked whole.json)
echo "merged.json is whole.json, byte for byte but for times: $(stat -c %s merged.json) bytes"
