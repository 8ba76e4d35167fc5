#!/usr/bin/env bash
# Expected: a template engine for published chat templates gives each round of a loop its own variables, as
# jinja2 does: {% set x %} in one round is not seen by the next.
# Happens: ardanlabs/jinja has one scope for all rounds, so a value that only some rounds set leaks into the
# later ones.
# Why it matters here: chat templates set variables in branches of their loop over messages; the leak
# prints another prompt without an error. This project restores such variables at the start of each round.
# Versions: github.com/ardanlabs/jinja v1.8.0 (eval.go, execFor makes one child scope before the rounds);
# jinja2 3.1.6 on the registry of Python.
set -euo pipefail
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT; cd "$dir"
export TEMPLATE="{% for m in [1, 2] %}{% if x is defined %}seen {% endif %}{% set x = m %}{% endfor %}end"
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
[ "$ours" = "seen end <nil>" ] && [ "$theirs" = "end" ]
