package tools

import (
	"strings"
	"testing"

	"mdmgen/cmd/mdmgen/internal/kit"
)

// FuzzComplete checks that completions begin with the typed text.
func FuzzComplete(f *testing.F) {
	for _, line := range []string{"", "dr", "draw --fo", "draw --format ", "draw --format=js", "draw --list a,b", "draw --on x --", "draw -- --fo", "help dr", "none --x"} {
		f.Add(line)
	}
	var format, list string
	var on bool
	app := &kit.App{Commands: []*kit.Command{{Name: "draw", Arguments: "[FILE]", Flags: append(kit.Format(&format, "text", "json"),
		kit.Text(&list, kit.Flag{Name: "list", Usage: "`LIST` of words", Words: []string{"a", "b"}}), kit.Bool(&on, kit.Flag{Name: "on", Alias: "o"}))}}}
	f.Fuzz(func(t *testing.T, line string) {
		words := rejoined("bash", strings.Split(line, " "))
		cur := words[len(words)-1]
		_, got := complete(app, words)
		last := cur[strings.LastIndex(cur, "=")+1:]
		for _, w := range got {
			if !strings.HasPrefix(w, cur) && !strings.HasPrefix(w, last) && !strings.HasPrefix(w, cur[strings.Index(cur, "=")+1:]) {
				t.Errorf("%q: offers %q", line, w)
			}
		}
	})
}
