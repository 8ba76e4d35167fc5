#!/usr/bin/env bash
# Expected: the sign in {{- y }} removes the blanks directly before the tag, up to the tag before it. In
# "b {{ x }}{{- y }}" there are none, since an expression stands directly before it.
# Happens: ardanlabs/jinja removes the blanks at the end of the last text, wherever that is: the blank after
# b, on the other side of {{ x }}, is lost.
# Why it matters here: chat templates put {{- … }} after {{ … }}; a lost blank or line break is another prompt,
# without an error. This project applies the rules for blanks itself and passes texts as constants.
# Versions: github.com/ardanlabs/jinja v1.8.0 (parse.go looks for the nearest text segment, not the
# neighbour); jinja2 3.1.6 on the registry of Python.
set -euo pipefail
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT; cd "$dir"
export TEMPLATE='b {{ 1 }}{{- 2 }}'
cat >main.go <<'GO'
package main

import (
	"fmt"
	"os"

	"github.com/ardanlabs/jinja"
)

func main() {
	t, err := jinja.Compile(os.Getenv("TEMPLATE"))
	if err != nil {
		panic(err)
	}
	fmt.Println(t.Render(nil))
}
GO
go mod init finding >/dev/null 2>&1; go get github.com/ardanlabs/jinja@v1.8.0 >/dev/null 2>&1
ours=$(go run .)
python3 -m venv venv >/dev/null; venv/bin/pip install -q jinja2==3.1.6 markupsafe==3.0.2 2>/dev/null
theirs=$(venv/bin/python -c 'import os, jinja2; print(jinja2.Environment().from_string(os.environ["TEMPLATE"]).render())')
printf 'ardanlabs/jinja: %s\njinja2:          %s\n' "$ours" "$theirs"
[ "$ours" = "b12 <nil>" ] && [ "$theirs" = "b 12" ]
