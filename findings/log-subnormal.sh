#!/usr/bin/env bash
# Expected: Go's math.Log is within an ulp or so of the logarithm for every positive float64, on every machine, as
# Log(Frexp's fraction) + exponent·Ln2 is.
# Happens: on amd64, where it is written in assembly, a subnormal number's exponent is taken from its bits as if it were
# normal. Log(5e-324) is −709.09, not −744.44, and Log(1e-310) is −709.09, not −713.80; on arm64 both are right.
# Why it matters here: a probability below 2.2e-308 is positive, but its logarithm was wrong by up to 35 nats, so that a
# likelihood, or a bound beside it, was. A number is scaled to be normal first.
# Versions: Go 1.26, src/math/log_amd64.s; known since 2022 as golang/go 56600.
set -euo pipefail
[ "$(go env GOARCH)" = amd64 ] || { echo 'skipped: amd64 only'; exit; }
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT; cd "$dir"
cat >main.go <<'GO'
package main

import (
	"fmt"
	"math"
)

func main() {
	for _, x := range []float64{5e-324, 1e-310, 3e-308} {
		fraction, exponent := math.Frexp(x)
		fmt.Printf("%g: %.2f by Log, %.2f by Frexp\n", x, math.Log(x), math.Log(fraction)+float64(exponent)*math.Ln2)
	}
}
GO
printf 'module finding\n\ngo 1.26\n' >go.mod
seen=$(go run .)
echo "$seen"
[ "$seen" = "5e-324: -709.09 by Log, -744.44 by Frexp
1e-310: -709.09 by Log, -713.80 by Frexp
3e-308: -708.10 by Log, -708.10 by Frexp" ]
