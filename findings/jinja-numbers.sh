#!/usr/bin/env bash
# Expected: // and % in a template are Python's: they floor, so -7 // 2 is -4 and -7 % 2 is 1, and a division
# by zero is an error.
# Happens: ardanlabs/jinja divides as Go does, -7 // 2 is -3 and -7 % 2 is -1, and 1 // 0 is 0.
# Why it matters here: templates that let roles alternate, or count from the end, compute with %; a wrong sign
# takes the wrong branch without an error. This project computes products and quotients itself.
# Versions: github.com/ardanlabs/jinja v1.8.0 (eval.go, floorDivValues and modValues); jinja2 3.1.6 on the
# registry of Python.
set -euo pipefail
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT; cd "$dir"
export TEMPLATE='{{ -7 // 2 }} {{ -7 % 2 }}' ZERO='{{ 1 // 0 }}'
cat >main.go <<'GO'
package main

import (
	"fmt"
	"os"

	"github.com/ardanlabs/jinja"
)

func main() {
	for _, source := range []string{os.Getenv("TEMPLATE"), os.Getenv("ZERO")} {
		t, err := jinja.Compile(source)
		if err != nil {
			panic(err)
		}
		out, err := t.Render(nil)
		fmt.Print(out, " ", err, "; ")
	}
}
GO
go mod init finding >/dev/null 2>&1; go get github.com/ardanlabs/jinja@v1.8.0 >/dev/null 2>&1
ours=$(go run .)
python3 -m venv venv >/dev/null; venv/bin/pip install -q jinja2==3.1.6 markupsafe==3.0.2 2>/dev/null
theirs=$(venv/bin/python - <<'PY'
import os, jinja2
for source in os.environ["TEMPLATE"], os.environ["ZERO"]:
    try:
        print(jinja2.Environment().from_string(source).render(), end="; ")
    except ZeroDivisionError:
        print("an error", end="; ")
PY
)
printf 'ardanlabs/jinja: %s\njinja2:          %s\n' "$ours" "$theirs"
[ "$ours" = "-3 -1 <nil>; 0 <nil>; " ] && [ "$theirs" = "-4 1; an error; " ]
