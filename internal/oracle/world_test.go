package oracle

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"mdmgen/analysis/laws"
	"mdmgen/internal/reftest"
	"mdmgen/model/world"
)

// worldFiles are the reference files of worlds; the first five are always there.
var worldFiles = []string{
	"timed3", "xor3-mixed", "theorem5-point3", "markov3-exact", "markov4-sharp",
	"dirichlet3-noisy", "nested3-exact", "pairs4-exact", "parity4-exact",
}

func readLaws(t testing.TB, name string) file {
	t.Helper()
	_, f, err := committed(t).open(reftest.Law(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// committed is the folder of the reference files that are always there.
func committed(t testing.TB) *Folder { return walked(t, reftest.Data(t, "reference")) }

func walked(t testing.TB, root string) *Folder {
	t.Helper()
	d, err := Walk(root)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// leaves calls do for each number of a node with its path.
func leaves(path string, n *node, do func(path string, n *node)) {
	if _, ok := n.value.(float64); ok {
		do(path, n)
	}
	for i, item := range n.list {
		leaves(fmt.Sprintf("%s[%d]", path, i), item, do)
	}
	for _, name := range n.names {
		p := name
		if path != "" {
			p = path + "." + name
		}
		leaves(p, n.fields[name], do)
	}
}

// TestChangedValue changes one number of every item of a world.
func TestChangedValue(t *testing.T) {
	for _, name := range []string{"xor3-mixed", "timed3", "theorem5-point3", "markov3-exact"} {
		f := readLaws(t, name)
		parsed, err := world.Parse(f.data)
		if err != nil {
			t.Fatal(err)
		}
		w, err := laws.New(parsed)
		if err != nil {
			t.Fatal(err)
		}
		want, err := worldValues(context.Background(), w, f.doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, field := range []string{"q0", "mu0", "mu1"} {
			if f.doc.fields[field] != nil {
				want[field] = given{}
			}
		}
		namesChanged(t, name, f.doc, want, &matcher{limit: lawsLimit, wider: lawsWider()}, 1000, func(path string) bool {
			field := path[strings.LastIndexByte(path, '.')+1:]
			first, _, _ := strings.Cut(strings.ReplaceAll(path, "[", "."), ".")
			return slices.Contains([]string{"checks", "seed", "d", "V", "q0", "mu0", "mu1", "mu_weight"}, first) || strings.HasSuffix(field, "_error") ||
				first == "grids" && slices.Contains([]string{"T", "delta", "N"}, field) || field == "t" || strings.HasPrefix(field, "x0") || strings.HasPrefix(field, "K[")
		})
	}
}

// namesChanged changes one number of every item of a file by 1e-6, a different one an item, and
// requires the breaches to name them all, and nothing else. An item is named by the path up to
// the last field; skip says which paths stay as they are. At least so many are changed.
func namesChanged(t *testing.T, name string, doc *node, want any, m *matcher, least int, skip func(path string) bool) {
	t.Helper()
	items, paths := make(map[string][]*node), make(map[string][]string)
	var order []string
	leaves("", doc, func(path string, n *node) {
		item := itemOf(path)
		if items[item] == nil {
			order = append(order, item)
		}
		items[item], paths[item] = append(items[item], n), append(paths[item], path)
	})
	changed := make(map[string]bool)
	for i, item := range order {
		at := i * 7 % len(items[item])
		if n, path := items[item][at], paths[item][at]; !skip(path) {
			old := n.value.(float64)
			n.value = old + 1e-6*max(1, math.Abs(old))
			changed[path] = true
		}
	}
	if len(changed) < least {
		t.Errorf("%s: only %d values were changed", name, len(changed))
	}
	if err := m.match("", doc, want); err != nil {
		t.Fatal(err)
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

// TestChangedInput changes every probability of q0 and μ, in the file itself.
func TestChangedInput(t *testing.T) {
	for _, name := range []string{"xor3-mixed", "timed3"} {
		f := readLaws(t, name)
		for _, field := range []string{"q0", "mu0", "mu1"} {
			if f.doc.fields[field] == nil {
				continue
			}
			leaves(field, f.doc.fields[field], func(path string, n *node) {
				old := n.value.(float64)
				for _, by := range []float64{1e-6, -1e-6} {
					n.value = old + by
					m := &matcher{limit: lawsLimit}
					if err := worldFile(context.Background(), f, m); err != nil || m.ok() {
						t.Fatalf("%s: %s: changed by %v: %v", name, path, by, err)
					}
					for _, it := range m.items {
						if !it.OK && !strings.HasPrefix(path, strings.TrimPrefix(it.Worst.Path, "sum of ")) {
							t.Fatalf("%s: %s was changed, %s is named", name, path, it.Worst.Path)
						}
					}
				}
				n.value = old
			})
		}
	}
}

// TestChangedMasses moves probability inside a row, which still sums to 1: what
// follows from it no longer holds.
func TestChangedMasses(t *testing.T) {
	data, err := os.ReadFile(reftest.Law(t, "xor3-mixed"))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := readDocument(data)
	if err != nil {
		t.Fatal(err)
	}
	row := doc.fields["mu0"].list[26].list[1]
	a, b := row.list[0].value.(float64), row.list[1].value.(float64)
	text := func(x float64) string { return fmt.Sprint(x) }
	old := "[" + text(a) + ", " + text(b) + "]"
	if !strings.Contains(string(data), old) {
		t.Skipf("the row %s is written in another way", old)
	}
	path := filepath.Join(t.TempDir(), "moved.json")
	moved := strings.Replace(string(data), old, "["+text(a+1e-6)+", "+text(b-1e-6)+"]", 1)
	if err := os.WriteFile(path, []byte(moved), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := new(Folder).Report(context.Background(), nil, path)
	if err != nil {
		t.Fatal(err)
	}
	if r.OK {
		t.Error("a row of μ was changed and the file is still OK")
	}
}

// TestStructure: what is unknown or missing is an error that names it.
func TestStructure(t *testing.T) {
	data, err := os.ReadFile(reftest.Law(t, "xor3-mixed"))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, old, new, want string }{
		{"unknown", `"q0_entropy"`, `"surprise": [{"x": 1}], "q0_entropy"`, "field surprise is not known"},
		{"unknown inside", `"cross_entropy"`, `"surprise": 1, "cross_entropy"`, "field fhs.surprise is not known"},
		{"missing", `"q0_entropy"`, `"q0_prose": "", "q0_entropies"`, "field q0_entropy is missing"},
		{"missing inside", `"cross_entropy"`, `"cross_entropies"`, "field fhs.cross_entropy is missing"},
		{"text", `"q0_entropy": `, `"q0_entropy": "x", "ignored": `, "field q0_entropy: must be a number"},
		{"twice", `"q0_entropy": `, `"d": 3, "q0_entropy": `, `"d" appears twice`},
		{"schema", "mdm-laws-world/1", "mdm-laws-world/2", `file of an unknown schema "mdm-laws-world/2"`},
		{"cut off", `"checks"`, "", "xor3.json"},
		{"a grid's N", `"N": 4`, `"N": 5`, "must be a list of 6 entries"},
		{"a sampler", `"tweedie"`, `"sampler"`, "laws[1]"},
		{"a check", `"proposition2_residual"`, `"proposition3_residual"`, `no check is called "proposition3_residual"`},
	} {
		path := filepath.Join(t.TempDir(), "xor3.json")
		text := strings.Replace(string(data), test.old, test.new, 1)
		if text == string(data) {
			t.Errorf("%s: nothing was changed", test.name)
		}
		if test.name == "cut off" {
			text = text[:len(text)/2]
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := new(Folder).Report(context.Background(), nil, path)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v: want one line with %q", test.name, err, test.want)
		}
	}
	for _, path := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none.json")} {
		if _, err := new(Folder).Report(context.Background(), nil, path); err == nil {
			t.Errorf("%s was recognised", path)
		}
	}
}

// TestCancelled ends the context while files are recomputed: nothing goes on afterwards.
func TestCancelled(t *testing.T) {
	folder := committed(t)
	for _, name := range []string{"theorem3", "markov4-sharp", "scaling-small", "maskmass2", "gumbel-small"} {
		path := reftest.Data(t, "reference", "laws", name+".json")
		for _, after := range []time.Duration{0, 30 * time.Millisecond} {
			before := runtime.NumGoroutine()
			ctx, cancel := context.WithTimeout(context.Background(), after)
			_, err := folder.Report(ctx, nil, path)
			if ended := ctx.Err() != nil; ended && err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s after %v: %v", name, after, err)
			}
			cancel()
			// A goroutine that has done its work may be counted a moment longer.
			for wait := time.Millisecond; runtime.NumGoroutine() > before; wait *= 2 {
				if wait > 200*time.Millisecond {
					t.Errorf("%s after %v: %d goroutines, %d before", name, after, runtime.NumGoroutine(), before)
					break
				}
				time.Sleep(wait)
			}
		}
	}
}
