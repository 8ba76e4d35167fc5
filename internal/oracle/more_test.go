package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/world"
)

var moreFiles = []string{"markov4-sharp", "timed3"}

func readMore(t testing.TB, name string) file {
	t.Helper()
	_, f, err := committed(t).open(reftest.Data(t, "reference", "laws-more", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// wantMore is what a file of further samplers must hold.
func wantMore(t testing.TB, f file) object {
	t.Helper()
	want, err := moreValues(context.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	return want
}

// itemOf is the item that a path's value belongs to: the path up to the last field.
func itemOf(path string) string {
	dot := strings.LastIndexByte(path, '.')
	if cut := strings.IndexByte(path[dot+1:], '['); cut >= 0 {
		return path[:dot+1+cut]
	}
	return path
}

// TestMoreChanged changes one number of every item of a file of further samplers.
func TestMoreChanged(t *testing.T) {
	// What other values are computed from is found by those.
	inputs := []string{"T", "delta", "N", "masked_fraction", "theta", "floor", "gamma"}
	for _, name := range moreFiles {
		f := readMore(t, name)
		want := wantMore(t, f)
		namesChanged(t, name, f.doc, want, &matcher{limit: lawsLimit}, 500, func(path string) bool {
			item := itemOf(path)
			return slices.Contains(inputs, item[strings.LastIndexByte(item, '.')+1:]) || isGiven(want, path)
		})
	}
}

// isGiven says whether a value is one from which others are computed.
func isGiven(want any, path string) bool {
	for _, step := range strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		switch w := want.(type) {
		case loose:
			want = w.value.(object)[step]
		case object:
			want = w[step]
		case list:
			i := 0
			fmt.Sscan(step, &i)
			want = w[i]
		}
		if l, ok := want.(loose); ok {
			want = l.value
		}
		if want == any(given{}) || want == any(exempt{}) {
			return true
		}
	}
	return false
}

// TestMoreInputs changes what laws are computed from, one number of each kind in the
// file itself: something that follows from it no longer holds.
func TestMoreInputs(t *testing.T) {
	f := readMore(t, "timed3")
	tried := make(map[string]bool)
	leaves("", f.doc, func(path string, n *node) {
		field := path[strings.LastIndexByte(path, '.')+1:]
		field, _, _ = strings.Cut(field, "[")
		if !slices.Contains([]string{"T", "delta", "masked_fraction", "theta", "floor", "sizes", "refined", "d", "V", "masked_fractions", "forward_times"}, field) {
			return
		}
		kind := field
		if i := strings.IndexByte(path, '['); strings.HasPrefix(path, "laws") && i > 0 {
			var at int
			fmt.Sscan(path[i+1:strings.IndexByte(path, ']')], &at)
			sampler := f.doc.fields["laws"].list[at].fields["sampler"].value.(string)
			if samplerKinds[sampler] == nil {
				return // Nothing is compared with it.
			}
			kind += " " + sampler
		}
		// Without a bound above it, the floor is felt or not.
		if tried[kind] || field == "floor" && n.value == 0.0 {
			return
		}
		tried[kind] = true
		old := n.value.(float64)
		n.value = old + 1e-6
		if old == 1 {
			n.value = old - 1e-6
		}
		m := &matcher{limit: lawsLimit}
		err := moreFile(context.Background(), f, m)
		n.value = old
		if err != nil {
			t.Errorf("%s: %v", path, err)
		} else if m.ok() {
			t.Errorf("%s was changed by 1e-6 and the file is still OK", path)
		}
	})
	if len(tried) < 20 {
		t.Errorf("only %d kinds of numbers were changed", len(tried))
	}
}

// TestMoreStructure: what is unknown, missing or makes no sense is an error that names it.
func TestMoreStructure(t *testing.T) {
	data, err := os.ReadFile(reftest.Data(t, "reference", "laws-more", "timed3.json"))
	if err != nil {
		t.Fatal(err)
	}
	worlds := committed(t)
	for _, test := range []struct{ name, old, new, want string }{
		{"unknown", `"q0_entropy"`, `"surprise": [1], "q0_entropy"`, "field surprise is not known"},
		{"unknown in a law", `"plan_independent_of_network"`, `"surprise": 1, "plan_independent_of_network"`, "field laws[0].surprise is not known"},
		{"unknown in settings", `"theta": 0.5`, `"theta": 0.5, "eta": 1`, ".settings.eta is not known"},
		{"missing", `"q0_entropy"`, `"q0_prose": "", "q0_entropies"`, "field q0_entropy is missing"},
		{"missing in a law", `"kl_fhs"`, `"kl_other"`, "field laws[0].kl_fhs is missing"},
		{"missing in the profile", `"loss_curve"`, `"loss_curves"`, `field "loss_curve" is missing`},
		{"missing settings", `"settings"`, `"setting"`, `laws[0]: field "settings" is missing`},
		{"a sampler", `"dmpm"`, `"dmpmm"`, `laws[2]: sampler "dmpmm" is not known`},
		{"a world's name", `"world": "timed3"`, `"world": "../laws/timed3x"`, `world "../laws/timed3x": there is no`},
		{"no world", `"world": "timed3"`, `"world": "timed4"`, `world "timed4": there is no`},
		{"another world", `"world": "timed3"`, `"world": "markov3-exact"`, "entries"},
		{"no world's file", `"world": "timed3"`, `"world": "theorem3"`, "there is no file theorem3.json of a world"},
		{"a grid", `"uniform-4"`, `"uniform-5"`, "must be a list of 6 entries"},
		{"text", `"q0_entropy": `, `"q0_entropy": "x", "ignored": `, "field q0_entropy: must be a number"},
		{"null", `"gamma": 0.6`, `"gamma": null`, `field "gamma" is null`},
		{"score total", `+3*l)%7`, `+3*l)%8`, "score_total"},
		{"refined", `"refined": [1.0, 0.5, 0.0]`, `"refined": [1.0, 0.5]`, `field "refined"`},
		{"falling", `"refined": [1.0, 0.5, 0.0]`, `"refined": [0.0, 0.5, 1.0]`, "times must fall"},
		{"fractions", `"masked_fractions": [1.0, 0.5, 0.0], "schedule"`, `"masked_fractions": [1.0], "schedule"`, `field "masked_fractions"`},
		{"order", `"entropy, ties`, `"margin, ties`, "must be by entropy"},
		{"a check", `"eb_replay"`, `"eb_reply"`, `no check is called "eb_reply"`},
		{"lattice", "lattice 1/400", "lattice 1/4000000", "lattice"},
	} {
		path := filepath.Join(t.TempDir(), "timed3.json")
		text := strings.Replace(string(data), test.old, test.new, 1)
		if text == string(data) {
			t.Errorf("%s: nothing was changed", test.name)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := worlds.Report(context.Background(), nil, path)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v: want one line with %q", test.name, err, test.want)
		}
	}
}

// TestMoreWorlds makes the file of every reference world, from the settings of the two
// that there are, and verifies it: every value of it is one, and a tie between schedules is
// one.
func TestMoreWorlds(t *testing.T) {
	for _, name := range worldFiles {
		t.Run(name, func(t *testing.T) {
			path := reftest.Law(t, name)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			w, err := world.Parse(data)
			if err != nil {
				t.Fatal(err)
			}
			from := "timed3"
			if w.Facts().Length == 4 {
				from = "markov4-sharp"
			}
			f := readMore(t, from)
			f.in = walked(t, filepath.Dir(path))
			f.doc.fields["world"].value = name
			made, err := json.Marshal(written(wantMore(t, f), f.doc))
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			out := filepath.Join(dir, "laws-more", name+".json")
			for _, folder := range []string{"laws", "laws-more"} {
				if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			for path, data := range map[string][]byte{out: made, filepath.Join(dir, "laws", name+".json"): data} {
				if err := os.WriteFile(path, data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			r, err := walked(t, dir).Report(context.Background(), nil, out)
			if err != nil {
				t.Fatal(err)
			}
			if !r.OK {
				t.Error("the file is not OK")
			}
		})
	}
}

// written is a tree as the JSON value of a file; what it does not have is the document's.
func written(want any, doc *node) any {
	switch want := want.(type) {
	case loose:
		return written(want.value, doc)
	case object:
		out := make(map[string]any)
		if doc != nil {
			for name, n := range doc.fields {
				if _, is := n.value.(string); is {
					out[name] = n.value
				}
			}
		}
		for name, w := range want {
			var n *node
			if doc != nil {
				n = doc.fields[name]
			}
			out[name] = written(w, n)
		}
		return out
	case list:
		out := make([]any, len(want))
		for i, w := range want {
			out[i] = written(w, doc.list[i])
		}
		return out
	case given, exempt:
		if doc == nil {
			return nil
		}
		switch {
		case doc.isList():
			return numbersOf(doc)
		case doc.isObject():
			out := make(map[string]any)
			for name, n := range doc.fields {
				out[name] = written(want, n)
			}
			return out
		}
		return doc.value
	case float64:
		if math.IsInf(want, 0) || math.IsNaN(want) {
			return nil
		}
	case []float64:
		out := make([]any, len(want))
		for i, x := range want {
			out[i] = written(x, nil)
		}
		return out
	}
	return want
}
