package verify

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

// The reference files of exact laws; the committed ones are always there.
var (
	committed  = []string{"timed3", "xor3-mixed", "theorem5-point3", "markov3-exact", "markov4-sharp", "scaling-small", "gumbel-small"}
	worldFiles = []string{"timed3", "xor3-mixed", "theorem5-point3", "markov3-exact", "markov4-sharp", "dirichlet3-noisy", "nested3-exact", "pairs4-exact", "parity4-exact"}
	lawFiles   = slices.Concat(worldFiles, []string{"scaling-small", "gumbel-small", "maskmass2", "qgamma3", "pairsgamma4", "theorem3", "scaling", "gumbel"})
)

func lawFile(t testing.TB, name string) string {
	if slices.Contains(committed, name) {
		return reftest.Data(t, "reference", "laws", name+".json")
	}
	return reftest.Shared(t, "reference", "laws", name+".json")
}

func readLaws(t testing.TB, name string) file {
	t.Helper()
	_, f, err := open(lawFile(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestLaws recomputes every reference file of exact laws.
func TestLaws(t *testing.T) {
	for _, name := range lawFiles {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			r, err := File(context.Background(), nil, lawFile(t, name), -1)
			if err != nil {
				t.Fatal(err)
			}
			worst, where := 0.0, ""
			for _, it := range r.Items {
				if float64(it.MaxDiff) > worst && it.Measure == Relative {
					worst, where = float64(it.MaxDiff), it.Name
				}
				if !it.OK {
					t.Errorf("%s: got %v, want %v, limit %v", it.Worst.Path, it.Worst.Got, it.Worst.Want, it.Limit)
				}
			}
			if !r.OK {
				t.Error("the report is not OK")
			}
			t.Logf("%d items, largest difference %.2g (%s), %.1f s", len(r.Items), worst, where, time.Since(start).Seconds())
		})
	}
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

// TestChangedValue changes one number of every item of a world by 1e-6, a different
// one an item, and requires the breach to name it.
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
		var items [][]*node
		var paths [][]string
		index := make(map[string]int)
		leaves("", f.doc, func(path string, n *node) {
			// An item is named by the path up to the last field.
			item := path
			dot := strings.LastIndexByte(item, '.')
			if cut := strings.IndexByte(item[dot+1:], '['); cut >= 0 {
				item = item[:dot+1+cut]
			}
			i, ok := index[item]
			if !ok {
				i = len(items)
				index[item] = i
				items, paths = append(items, nil), append(paths, nil)
			}
			items[i], paths[i] = append(items[i], n), append(paths[i], path)
		})
		changed, missed := 0, 0
		for i := range items {
			n, path := items[i][i*7%len(items[i])], paths[i][i*7%len(items[i])]
			field := path[strings.LastIndexByte(path, '.')+1:]
			first, _, _ := strings.Cut(strings.ReplaceAll(path, "[", "."), ".")
			switch {
			case slices.Contains([]string{"checks", "seed", "d", "V", "q0", "mu0", "mu1", "mu_weight"}, first), strings.HasSuffix(field, "_error"):
				continue
			case first == "grids" && slices.Contains([]string{"T", "delta", "N"}, field), field == "t" || strings.HasPrefix(field, "x0") || strings.HasPrefix(field, "K["):
				continue
			}
			old := n.value.(float64)
			n.value = old + 1e-6*max(1, math.Abs(old))
			m := &matcher{limit: lawsLimit, wider: map[string]float64{"euler_rate_integral": 10, "euler_rhs": 10}}
			err := m.match("", f.doc, want)
			n.value = old
			if err != nil {
				t.Fatal(err)
			}
			changed++
			if at := slices.IndexFunc(m.items, func(it Item) bool { return !it.OK }); at < 0 || m.items[at].Worst.Path != path {
				if missed++; missed < 5 {
					t.Errorf("%s: %s was changed by 1e-6 and not named", name, path)
				}
			}
		}
		if changed < 1000 {
			t.Errorf("%s: only %d values were changed", name, changed)
		}
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
	data, err := os.ReadFile(lawFile(t, "xor3-mixed"))
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
	r, err := File(context.Background(), nil, path, -1)
	if err != nil {
		t.Fatal(err)
	}
	if r.OK {
		t.Error("a row of μ was changed and the file is still OK")
	}
}

// TestStructure: what is unknown or missing is an error that names it.
func TestStructure(t *testing.T) {
	data, err := os.ReadFile(lawFile(t, "xor3-mixed"))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, old, new, want string }{
		{"unknown", `"q0_entropy"`, `"surprise": [{"x": 1}], "q0_entropy"`, "field surprise is not known"},
		{"unknown inside", `"cross_entropy"`, `"surprise": 1, "cross_entropy"`, "field fhs.surprise is not known"},
		{"missing", `"q0_entropy"`, `"q0_prose": "", "q0_entropies"`, "field q0_entropy is missing"},
		{"missing inside", `"cross_entropy"`, `"cross_entropies"`, "field fhs.cross_entropy is missing"},
		{"text", `"q0_entropy": `, `"q0_entropy": "x", "ignored": `, "field q0_entropy: must be a number"},
		{"twice", `"q0_entropy": `, `"d": 3, "q0_entropy": `, `"d" stands there twice`},
		{"schema", "mdm-laws-world/1", "mdm-laws-world/2", "must be one of"},
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
		_, err := File(context.Background(), nil, path, -1)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v: want one line with %q", test.name, err, test.want)
		}
	}
	for _, path := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none.json")} {
		if _, err := KindOf(path); err == nil {
			t.Errorf("%s was recognised", path)
		}
	}
	if k, err := KindOf(lawFile(t, "timed3")); err != nil || k.Model || k.Limit != 1e-10 || k.Measure != Relative {
		t.Errorf("timed3 is %+v, %v", k, err)
	}
	if k, err := KindOf("x.safetensors"); err != nil || !k.Model || k.Limit != 1e-4 {
		t.Errorf("tensors are %+v, %v", k, err)
	}
}

// FuzzFile: no file makes verify panic, and every error is one line.
func FuzzFile(f *testing.F) {
	f.Add([]byte(`{"schema":"mdm-laws-world/1","d":1,"V":2,"q0":[0.5,0.5],"mu_kind":"time_free","mu0":[[null],[null],[[0.5,0.5]]],"score_entropy_at":[{"t":1,"L_SE":0,"L1_rate_error":0}],"importance_weighted":[{"x0":[1],"K":[2]}],"grids":[{"id":"a","kind":"uniform","T":5,"delta":0.1,"N":2}],"laws":[{"grid":"a","sampler":"euler"}],"theorem1":[{"grid":"a"}]}`))
	f.Add([]byte(`{"schema":"mdm-laws-maskmass/1","d":1,"V":1,"T":1,"q0_states":[0.5,0.5],"forward_marginals":[{"t":1}],"euler":[{"N":2}],"gamma_noise":1,"theorem3":{}}`))
	f.Add([]byte(`{"schema":"mdm-laws-theorem3/1","p_M":[{"gamma":0.1,"T":4,"N":4}],"steps_needed":[{"construction":"point","d":10,"eps":0.01,"T":4,"N":35}],"steps_needed_best_T":[],"steps_sufficient_theorem1_frozen":[]}`))
	f.Add([]byte(`{"schema":"mdm-laws-scaling/1","T":10,"delta":0.01,"small_worlds":[{"world":"../x"}],"short_horizon":[],"pairs_large_d":[{"d":16,"V":2,"T":5,"delta":0.01,"kappa":0.1}],"nested_codes":[{"d":8,"q":7,"T":12,"delta":0.2,"N":20}],"pairs_ancestral_uniform_masked_fraction":[{"d":16,"V":2,"N":4}],"paper_grid_from_kappa":[{"T":5,"delta":0.01,"kappa":0.1}]}`))
	f.Add([]byte(`[{"a":[[[1]]]}]`))
	path := filepath.Join(f.TempDir(), "fuzz.json")
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := readDocument(data)
		if err != nil || len(data) > 2000 || heavy(doc) {
			return
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := File(context.Background(), nil, path, -1); err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("error of several lines: %q", err)
		}
	})
}

// heavy says whether a file asks for more work than a fuzzer should do.
func heavy(doc *node) bool {
	work := 0.0
	leaves("", doc, func(path string, n *node) {
		x := n.value.(float64)
		switch field := path[strings.LastIndexByte(path, '.')+1:]; field {
		case "N", "d", "V", "q":
			work = max(work, x)
		case "kappa", "eps", "delta":
			work = max(work, 1/x)
		}
	})
	return work > 200
}

// TestCancelled ends the context while files are recomputed: nothing goes on afterwards.
func TestCancelled(t *testing.T) {
	for _, name := range []string{"theorem3", "markov4-sharp", "scaling-small", "maskmass2", "gumbel-small"} {
		path := reftest.Data(t, "reference", "laws", name+".json")
		for _, after := range []time.Duration{0, 30 * time.Millisecond} {
			before := runtime.NumGoroutine()
			ctx, cancel := context.WithTimeout(context.Background(), after)
			_, err := File(ctx, nil, path, -1)
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
