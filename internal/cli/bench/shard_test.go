package bench

import "testing"

// TestCheckArgs: what a part says is run on merging, and so must write nothing.
func TestCheckArgs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		good bool
	}{
		{[]string{"bench", "--seed=1", "-n=3", "--quiet=true", "--case=fhs --html=x", "--"}, true},
		{[]string{"bench", "--"}, true},
		{nil, false},
		{[]string{"bench", "--seed=1"}, false},
		{[]string{"pull", "--", "x"}, false},
		{[]string{"bench", "--", "new.json"}, false},
		{[]string{"bench", "--html=x", "--"}, false},
		{[]string{"bench", "--plots=x", "--"}, false},
		{[]string{"bench", "-o=x", "--"}, false},
		{[]string{"bench", "--output=x", "--"}, false},
		{[]string{"bench", "--resume=x", "--"}, false},
		{[]string{"bench", "--shard=1/2", "--"}, false},
		{[]string{"bench", "--config=x", "--"}, false},
		{[]string{"bench", "-n", "3", "--"}, false},
		{[]string{"bench", "", "--"}, false},
	} {
		if err := checkArgs(c.args); (err == nil) != c.good {
			t.Errorf("%q: %v", c.args, err)
		}
	}
}
