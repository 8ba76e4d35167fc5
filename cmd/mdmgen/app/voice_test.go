package app

import (
	"testing"

	"mdmgen/internal/exit"
)

// TestVerbosityOfAll checks that every command has the flags that choose how much it says, once, and
// prints its errors. What the flags change is checked by TestScripts/voice.
func TestVerbosityOfAll(t *testing.T) {
	for _, c := range testApp().Commands {
		refused(t, exit.Usage, "mdmgen: "+c.Name+": -q and --verbose exclude each other\n", c.Name, "-q", "--verbose")
		if c.Name == "merge" || c.Name == "replay" {
			continue // They take any number of files.
		}
		refused(t, exit.Usage, "", c.Name, "-q", "a", "b", "c")
	}
}
