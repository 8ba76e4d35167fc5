package kit_test

import (
	"strings"
	"testing"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
)

// command returns a command with a flag of each kind, and a function that formats their values.
func command() (*kit.Command, func() string) {
	var number int
	var yes, rare bool
	var items []string
	var x float64
	format := ""
	set := append(kit.Format(&format, "text", "json"),
		kit.Int(&number, -9, 9, kit.Flag{Name: "number", Alias: "n", Synonyms: []kit.Synonym{{Name: "minus", Value: "-%s"}}}),
		kit.Bool(&yes, kit.Flag{Name: "yes"}), kit.Texts(&items, kit.Flag{Name: "item"}),
		kit.Number(&x, "above 0", func(x float64) bool { return x > 0 }, kit.Flag{Name: "eta", Usage: "`X`", Rare: true}),
		kit.Bool(&rare, kit.Flag{Name: "rare", Rare: true}))
	set = set.WithSettings()
	return &kit.Command{Name: "do", Flags: set}, func() string {
		var out []string
		for _, f := range set {
			if f.IsSet() {
				out = append(out, f.Name+"="+f.Text())
			}
		}
		return strings.Join(out, " ")
	}
}

// TestArrange checks that flags may be anywhere.
func TestArrange(t *testing.T) {
	for _, c := range []struct{ in, values, rest string }{
		{"", "", ""},
		{"a b", "", "a b"},
		{"a -n 3 b", "number=3", "a b"},
		{"a --yes b", "yes=true", "a b"},
		{"a --yes=false b --number=4", "number=4 yes=false", "a b"},
		{"- --yes -", "yes=true", "- -"},
		{"a -- --yes b", "", "a --yes b"},
		{"-n -3 a", "number=-3", "a"},
		{"--item -- a", "item=--", "a"},
		{"--item a x --item b", "item=a, b", "x"},
		{"--json a", "format=json", "a"},
		{"--minus 3", "number=-3", ""},
		{"--set eta=0.5 a --set=rare", "eta=0.5 rare=true", "a"},
	} {
		cmd, values := command()
		rest, help, err := kit.Arrange(cmd, strings.Fields(c.in))
		if err != nil || help != "" || values() != c.values || strings.Join(rest, " ") != c.rest {
			t.Errorf("Arrange(%q) = %q with %q, %v", c.in, rest, values(), err)
		}
	}
	for in, want := range map[string]string{
		"--no": "do: unknown flag --no; `mdmgen do --help` lists the flags", "-n": "do: -n needs a value: -n VALUE", "---": "do: unknown flag ---; `mdmgen do --help` lists the flags",
		"-n 1 --number 2": "do: -n and --number exclude each other", "--yes --yes": "do: --yes is given twice", "--json --format text": "do: --json and --format exclude each other",
		"--json=true": "--json: takes no value: it is --format json", "--number 10": "--number 10: must be in -9..9", "--number=": "--number: the value is empty",
		"--eta 1": "do: unknown flag --eta; did you mean --set eta=X?", "--etaa 1": "do: unknown flag --etaa; did you mean --set eta?", "--nmber 1": "do: unknown flag --nmber; did you mean --number?",
		"--set eta=0": "--set eta=0: must be above 0", "--set eta": "--set eta: write --set eta=X", "--set ate=1": "--set ate: do has no such setting",
		"--set number=1": "--set number: is a flag: write --number VALUE", "--set eta=1 --set eta=2": "do: --set eta is given twice",
	} {
		cmd, _ := command()
		if _, _, err := kit.Arrange(cmd, strings.Fields(in)); exit.Code(err) != exit.Usage || err == nil || err.Error() != want {
			t.Errorf("Arrange(%q): %v, want %s", in, err, want)
		}
	}
	for in, want := range map[string]string{"a --help -n": "help", "--number many --help-all": "help-all", "-h": "h"} {
		cmd, _ := command()
		if _, help, err := kit.Arrange(cmd, strings.Fields(in)); help != want || err != nil {
			t.Errorf("Arrange(%q): %q, %v", in, help, err)
		}
	}
}
