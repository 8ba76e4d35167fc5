package app

import (
	"strings"
	"testing"

	"mdmgen/internal/exit"
	"mdmgen/model/hub/hubtest"
)

// TestNearMiss: a name that the hub does not have, and that is close to a known one, is told with
// it; others are not.
func TestNearMiss(t *testing.T) {
	hubtest.New(t, nil).Use(t)
	for name, known := range map[string]string{"kuleshov-group/mdlm-owtt": "kuleshov-group/mdlm-owt", "GSAI-ML/LLaDa-8B-Base": "GSAI-ML/LLaDA-8B-Base", "kuleshov-group/bamdlm": ""} {
		for _, args := range [][]string{{"pull", name}, {"generate", "--model", name}, {"show", name}} {
			_, stderr, code := runCommand(t, "", args...)
			if code != exit.Missing || strings.Count(stderr, "\n") != 1 || strings.Contains(stderr, "did you mean") != (known != "") || !strings.Contains(stderr, known) {
				t.Errorf("%s: exit status %d, %q, want %q", args, code, stderr, known)
			}
		}
	}
}
