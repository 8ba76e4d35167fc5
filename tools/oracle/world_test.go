package oracle

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
)

func readLaws(t testing.TB, name string) *file {
	t.Helper()
	return committed(t).open(t, reftest.Law(t, name))
}

// committed returns the folder of the committed reference files.
func committed(t testing.TB) *Folder { return walked(t, reftest.Data(t, "reference")) }

func walked(t testing.TB, root string) *Folder {
	t.Helper()
	return reftest.Must(Walk(root))(t)
}

// leaf is a number of a file that can be changed.
type leaf struct {
	path string
	x    float64
	set  func(x any)
}

// leaves returns the numbers in a value of a file.
func leaves(path string, v any, set func(any)) (out []leaf) {
	switch v := v.(type) {
	case float64:
		return []leaf{{path, v, set}}
	case []any:
		for i, item := range v {
			out = append(out, leaves(fmt.Sprintf("%s[%d]", path, i), item, func(x any) { v[i] = x })...)
		}
	case map[string]any:
		for name, item := range inOrder(v) {
			out = append(out, leaves(below(path, name), item, func(x any) { v[name] = x })...)
		}
	}
	return out
}

// item returns the item to which the number belongs: the path up to the last field.
func (l leaf) item() string {
	dot := strings.LastIndexByte(l.path, '.')
	if cut := strings.IndexByte(l.path[dot+1:], '['); cut >= 0 {
		return l.path[:dot+1+cut]
	}
	return l.path
}

// field returns the last field of the path.
func (l leaf) field() string {
	item := l.item()
	return item[strings.LastIndexByte(item, '.')+1:]
}

// TestChangedValue changes one number of every item of a world, and requires a breach of that item.
func TestChangedValue(t *testing.T) {
	// These are inputs of other values, or are not recomputed.
	free := []string{"seed", "T", "delta", "N", "t", "x0", "K", "euler_rate_integral_error"}
	for _, name := range []string{"xor3-mixed", "timed3", "theorem5-point3", "markov3-exact"} {
		f := readLaws(t, name)
		_, w := openWorld(t, f)
		namesChanged(t, name, f.doc, worldValues(t, w, f), 1000, func(l leaf) bool {
			first, _, _ := strings.Cut(strings.ReplaceAll(l.path, "[", "."), ".")
			return slices.Contains([]string{"checks", "d", "V", "q0", "mu0", "mu1", "mu_weight", "importance_weighted"}, first) || slices.Contains(free, l.field())
		})
	}
}

// namesChanged changes one number of every item of a file by 1e-6, a different one per item, and
// requires breaches of exactly these items. It skips the paths for which skip returns true. At
// least least numbers must be changed.
func namesChanged(t *testing.T, name string, doc, want any, least int, skip func(leaf) bool) {
	t.Helper()
	items := make(map[string][]leaf)
	var order []string
	for _, l := range leaves("", doc, nil) {
		if items[l.item()] == nil {
			order = append(order, l.item())
		}
		items[l.item()] = append(items[l.item()], l)
	}
	changed := make(map[string]bool)
	for i, item := range order {
		if l := items[item][i*7%len(items[item])]; !skip(l) {
			l.set(l.x + 1e-6*max(1, math.Abs(l.x)))
			changed[l.path] = true
		}
	}
	if len(changed) < least {
		t.Errorf("%s: only %d values were changed", name, len(changed))
	}
	m := &matcher{t: t, limit: lawsLimit}
	m.match("", doc, want)
	for _, fault := range m.faults {
		t.Errorf("%s: %s", name, fault)
	}
	for _, it := range m.items {
		if it.OK {
			continue
		}
		if !changed[it.Worst.Path] {
			t.Errorf("%s: %s is named and was not changed", name, it.Worst.Path)
		}
		delete(changed, it.Worst.Path)
	}
	for path := range changed {
		t.Errorf("%s: %s was changed by 1e-6 and not named", name, path)
	}
}

// TestStructure checks that an unknown or missing value is a fault that names it.
func TestStructure(t *testing.T) {
	want := object{"d": 2, "p": []float64{0.5, math.Inf(1)}, "fhs": object{"kl": 1.5}, "rows": list{object{"N": given{}}}, "seed": exempt{}}
	for _, test := range []struct{ doc, want string }{
		{`{"d": 2, "p": [0.5, null], "fhs": {"kl": 1.5, "text": "x"}, "rows": [{"N": 3}]}`, ""},
		{`{"d": 2, "p": [0.5, null], "fhs": {"kl": 1.5}, "rows": [{"N": 3}], "surprise": [{"x": 1}]}`, "field surprise is not known"},
		{`{"d": 2, "p": [0.5, null], "fhs": {"kl": 1.5, "surprise": true}, "rows": [{"N": 3}]}`, "field fhs.surprise is not known"},
		{`{"d": 2, "p": [0.5, null], "fhs": {"kl": 1.5}, "rows": [{"N": 3, "n": 1}]}`, "field rows[0].n is not known"},
		{`{"p": [0.5, null], "fhs": {"kl": 1.5}, "rows": [{"N": 3}]}`, "field d is missing"},
		{`{"d": 2, "p": [0.5, null], "fhs": {}, "rows": [{"N": 3}]}`, "field fhs.kl is missing"},
		{`{"d": 2, "p": [0.5, null], "fhs": {"kl": 1.5}, "rows": [{}]}`, "field rows[0].N is missing"},
		{`{"d": 2, "p": [0.5, null], "fhs": 1.5, "rows": [{"N": 3}]}`, "field fhs: must be an object"},
		{`{"d": 2, "p": [0.5, null], "fhs": {"kl": 1.5}, "rows": []}`, "field rows: 0 entries: must have 1"},
		{`{"d": "2", "p": [0.5, null], "fhs": {"kl": 1.5}, "rows": [{"N": 3}]}`, "field d: must be a number or null"},
		{`{"d": 2, "p": [0.5, "x"], "fhs": {"kl": 1.5}, "rows": [{"N": 3}]}`, "field p[1]: must be a number or null"},
		{`{"d": 2, "p": [0.5], "fhs": {"kl": 1.5}, "rows": [{"N": 3}]}`, "field p: must be a list of 2 entries"},
	} {
		var doc map[string]any
		reftest.OK(t, json.Unmarshal([]byte(test.doc), &doc))
		m := &matcher{t: t, limit: lawsLimit}
		m.match("", doc, want)
		if got := strings.Join(m.faults, "\n"); !strings.HasPrefix(got, test.want) || m.ok() != (test.want == "") || len(m.faults) > 1 {
			t.Errorf("%s\nfaults %q, want %q", test.doc, got, test.want)
		}
	}
}
