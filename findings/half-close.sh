#!/usr/bin/env bash
# Expected: a client that has sent its whole request may close its sending side and wait for the answer, as
# TCP allows (RFC 9293, section 3.6) and scripts with nc -N do. A server goes on with its work and answers.
# Happens: Go's net/http reads in the background while a handler runs. The end of the input cancels the
# request's context, as if the client were gone: a handler that heeds its context ends its work, although
# what it writes would arrive.
# Why it matters here: a server that stops work for clients that left (a long generation) also stops it for
# these. There is no way to tell the two apart before something is written.
# Versions: Go 1.26 (net/http/server.go, connReader.backgroundRead); Python 3 for the client.
set -euo pipefail
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT; cd "$dir"
cat >main.go <<'GO'
package main

import (
	"fmt"
	"net"
	"net/http"
	"time"
)

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr().(*net.TCPAddr).Port)
	panic(http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
			fmt.Fprint(w, "cancelled: ", r.Context().Err())
		case <-time.After(time.Second):
			fmt.Fprint(w, "worked")
		}
	})))
}
GO
cat >go.mod <<'MOD'
module finding

go 1.26
MOD
go build -o server .
exec 3< <(exec ./server); read -r port <&3
ask() { python3 - "$port" "$1" <<'PY'
import socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
s.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
if sys.argv[2] == "half":
    s.shutdown(socket.SHUT_WR)
answer = b""
while part := s.recv(4096):
    answer += part
print(answer.split(b"\r\n\r\n", 1)[1].decode())
PY
}
open=$(ask open); half=$(ask half); kill %1 2>/dev/null || pkill -f "$dir/server" || true
printf 'open: %s\nhalf closed: %s\n' "$open" "$half"
[ "$open" = "worked" ] && [ "$half" = "cancelled: context canceled" ]
