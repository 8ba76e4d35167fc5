package kit_test

import (
	"errors"
	"testing"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
)

// TestRefuse checks that a message begins with the flag as it was typed, or with the command.
func TestRefuse(t *testing.T) {
	cmd, _ := command()
	if _, _, err := kit.Arrange(cmd, []string{"-n", "7"}); err != nil {
		t.Fatal(err)
	}
	for says, want := range map[string]string{
		"number: too many": "-n: number: too many", "number": "-n: number", "number 7: too many": "-n: number 7: too many",
		"eta: too small": "do: eta: too small", "": "do: ",
	} {
		if err := cmd.Flags.Refuse("do", errors.New(says)); err.Error() != want || exit.Code(err) != exit.Usage {
			t.Errorf("%q is said as %q, want %q; exit %d", says, err, want, exit.Code(err))
		}
	}
	cmd, _ = command()
	if _, _, err := kit.Arrange(cmd, []string{"--number", "7"}); err != nil {
		t.Fatal(err)
	}
	for says, want := range map[string]string{"number: too many": "--number: too many", "number": "--number: number", "number 7: too many": "--number 7: too many"} {
		if err := cmd.Flags.Refuse("do", errors.New(says)); err.Error() != want {
			t.Errorf("%q is said as %q, want %q", says, err, want)
		}
	}
}
