package kit

import (
	"strings"
	"testing"
)

// TestForeign checks that what is said in place of a flag of another program has flags that a command
// of these has, and is not said by a command without them.
func TestForeign(t *testing.T) {
	var text string
	set := Set{Text(&text, Flag{Name: "listen"}), Text(&text, Flag{Name: "chat"}), Text(&text, Flag{Name: "input"})}
	for name, words := range foreignFlags {
		if !strings.Contains(words, "--") || strings.Count(words, "%s") > 1 {
			t.Errorf("%s: %q names no flag", name, words)
		}
		arg := "--" + strings.Replace(name, "-", "_", 1)
		known := strings.HasPrefix(words, "--listen") || strings.HasPrefix(words, "--chat") || strings.HasPrefix(words, "--input")
		if got := foreign(arg, []string{"1.2.3.4"}, set); (got != "") != known || strings.Contains(got, "%") {
			t.Errorf("%s: %q", arg, got)
		}
	}
	if got := foreign("--host", nil, set); got != "--listen VALUE:PORT" {
		t.Errorf("a host without a value: %q", got)
	}
}
