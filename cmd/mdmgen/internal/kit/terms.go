package kit

import (
	"strings"

	"mdmgen/internal/fault"
)

// terms maps what packages call their settings and operations in errors to what a user types.
var terms = map[string]string{
	"runtime": "--set runtime", "fact": "--set fact", "weights": "--set weights",
	"device": "--device", "dtype": "--dtype", "offline": "--offline", "length": "bench --evaluator-context",
	"library.Install": "`mdmgen runtime install --cuda`", "ort.Diagnose": "`mdmgen doctor --device cuda`",
}

// Spell returns the flag or command line of a term: see [fault.Spell].
func Spell(t fault.Term) string {
	typed, ok := terms[t.Name]
	switch {
	case !ok:
		return t.String()
	case t.Value == "":
		return typed
	case strings.HasPrefix(typed, "--set "):
		return typed + "=" + t.Value
	}
	return typed + " " + t.Value
}
