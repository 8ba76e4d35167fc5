package app

import (
	"strings"
	"testing"

	"mdmgen/internal/exit"
	"mdmgen/model/hub/hubtest"
)

// TestNearMiss checks that the error for an unknown name suggests a known one that is close, if
// there is one.
func TestNearMiss(t *testing.T) {
	hubtest.New(t, nil).Use(t)
	for name, known := range map[string]string{"kuleshov-group/mdlm-owtt": "kuleshov-group/mdlm-owt", "GSAI-ML/LLaDa-8B-Base": "GSAI-ML/LLaDA-8B-Base", "kuleshov-group/bamdlm": ""} {
		for _, args := range [][]string{{"pull", name}, {"generate", "--model", name}, {"show", name}} {
			if stderr := refused(t, exit.Missing, known, args...); strings.Contains(stderr, "did you mean") != (known != "") {
				t.Error(args, stderr)
			}
		}
	}
}
