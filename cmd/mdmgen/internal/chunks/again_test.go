package chunks

import (
	"testing"

	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/cmd/mdmgen/internal/kit"
)

// TestCheckArgs: what a part says is run on merging, and so must write nothing.
func TestCheckArgs(t *testing.T) {
	t.Parallel()
	var f Flags
	var n int
	var text string
	known := append(f.Flags("cells"), kit.OutputFlag(&text), flags.Int(&n, 1, 9, flags.Flag{Name: "n"}), flags.Int(&n, 1, 9, flags.Flag{Name: "seed"}),
		flags.Text(&text, flags.Flag{Name: "case"}), flags.Name(&text, "", flags.Flag{Name: "html", Writes: true}))
	for _, c := range []struct {
		args []string
		good bool
	}{
		{[]string{"bench", "--seed=1", "-n=3", "--verbosity=quiet", "--case=fhs --html=x", "--"}, true},
		{[]string{"bench", "--"}, true},
		{nil, false},
		{[]string{"bench", "--seed=1"}, false},
		{[]string{"pull", "--", "x"}, false},
		{[]string{"bench", "--", "new.json"}, false},
		{[]string{"bench", "--html=x", "--"}, false},
		{[]string{"bench", "-o=x", "--"}, false},
		{[]string{"bench", "--output=x", "--"}, false},
		{[]string{"bench", "--resume=x", "--"}, false},
		{[]string{"bench", "--shard=1/2", "--"}, false},
		{[]string{"bench", "--config=x", "--"}, false},
		{[]string{"bench", "-n", "3", "--"}, false},
		{[]string{"bench", "", "--"}, false},
	} {
		if err := checkArgs("bench", c.args, known, 0); (err == nil) != c.good {
			t.Errorf("%q: %v", c.args, err)
		}
	}
}
