package app

import (
	"os"
	"path/filepath"
	"testing"

	"mdmgen/internal/exit"
	"mdmgen/internal/reftest"
	"mdmgen/samplers/catalog"
)

// TestOffline runs without a library, with a client that only records that it was asked: --offline
// must not ask it.
func TestOffline(t *testing.T) {
	cool(t)
	bin, cache := t.TempDir(), t.TempDir()
	asked := filepath.Join(cache, "asked")
	for _, name := range []string{"python3", "python", "npm"} {
		writeFile(t, filepath.Join(bin, name), "#!/bin/sh\ncase \"$*\" in *\" download \"*|*\" pack \"*) echo yes >> '"+asked+"';; esac\nexit 1\n")
		reftest.OK(t, os.Chmod(filepath.Join(bin, name), 0o755))
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+"/bin")
	t.Setenv("MDMGEN_CACHE", cache)
	for _, offline := range []bool{true, false} {
		t.Setenv("MDMGEN_OFFLINE", map[bool]string{true: "0", false: "1"}[offline]) // the flag takes precedence
		_, stderr, code := runCommand(t, "", "generate", "--seed", "1", "--offline="+map[bool]string{true: "true", false: "false"}[offline])
		if code == exit.OK {
			t.Skip("a system library of ONNX Runtime is here")
		}
		if code != exit.Missing {
			t.Errorf("offline %t: exit status %d, want %d: %s", offline, code, exit.Missing, stderr)
		}
		if _, err := os.Stat(asked); (err == nil) == offline {
			t.Errorf("offline %t: a client was asked: %t", offline, err == nil)
		}
	}
}

// TestEveryOptionIsAFlag checks that commands that sample have all options of samplers, that score
// has the options of laws that it computes, and that bound has those that choose what is revealed
// when. Only generate has those of calls.
func TestEveryOptionIsAFlag(t *testing.T) {
	app := testApp()
	for _, name := range []string{"generate", "score", "bound"} {
		for _, o := range catalog.AllOptions() {
			has := app.Find(name).Flags.Find(o.Name) != nil
			want := (name != "bound" || !o.Token && o.Name != "cache") && (name != "score" || !o.Unscored) && (name == "generate" || !o.Calls)
			if has != want {
				t.Errorf("%s has --%s: %t, want %t", name, o.Name, has, want)
			}
		}
	}
}
