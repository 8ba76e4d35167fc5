package facts

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
)

// valid returns the facts of a small network.
func valid() Facts {
	return Facts{Schema: Schema, Family: "mdlm", Columns: 8, MaskID: 7, Length: 16, Output: Logits, Noise: "loglinear"}
}

func TestExcluded(t *testing.T) {
	for _, c := range []struct {
		name          string
		mask          int
		padding, want []int
	}{
		{"mask", 7, nil, []int{7}},
		{"mask without a column", 8, nil, nil},
		{"padding", 3, []int{6, 5}, []int{3, 5, 6}},
		{"mask among the padding", 6, []int{6, 7}, []int{6, 7}},
	} {
		f := valid()
		f.MaskID, f.Padding = c.mask, c.padding
		if got := f.Excluded(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestDigested checks that every fact except the name counts, even one that is omitted from the
// JSON form if zero; the order of the padding does not.
func TestDigested(t *testing.T) {
	base := valid()
	base.Padding = []int{5, 6}
	same := base
	same.Name, same.Padding = "other", []int{6, 5, 5}
	if got, want := same.Digested(), base.Digested(); got != want || !strings.HasPrefix(got, "sha256:") || len(got) != 71 {
		t.Errorf("%s of the same facts, %s before", got, want)
	}
	if !slices.Equal(same.Padding, []int{6, 5, 5}) {
		t.Error("the facts were changed")
	}
	seen := map[string]string{base.Digested(): "nothing"}
	for name, change := range map[string]func(*Facts){
		"family": func(f *Facts) { f.Family = "radd" }, "columns": func(f *Facts) { f.Columns++ }, "mask": func(f *Facts) { f.MaskID-- },
		"padding": func(f *Facts) { f.Padding = []int{5} }, "length": func(f *Facts) { f.Length++ }, "fixed": func(f *Facts) { f.FixedLength = true },
		"time": func(f *Facts) { f.TimeConditioned = true }, "output": func(f *Facts) { f.Output = LogScore }, "scale": func(f *Facts) { f.ScaleBySigma = true },
		"shift": func(f *Facts) { f.Shift = true }, "noise": func(f *Facts) { f.Noise = "cosine" }, "parameters": func(f *Facts) { f.Parameters = 3 },
		"dtype": func(f *Facts) { f.Dtype = "F16" }, "digest": func(f *Facts) { f.Digest = "sha256:0" },
		"input": func(f *Facts) { f.Input = "ids" },
	} {
		f := base
		change(&f)
		if other, twice := seen[f.Digested()]; twice {
			t.Errorf("a change of %s has the digest of a change of %s", name, other)
		}
		seen[f.Digested()] = name
	}
}

func TestApply(t *testing.T) {
	sidecar := filepath.Join(t.TempDir(), "facts.json")
	reftest.OK(t, os.WriteFile(sidecar, []byte(`{"schema":"mdmgen.model/1","name":"n","length":9,"padding":[5,6]}`), 0o644))
	f := reftest.Must(Apply(t.Context(), valid(), sidecar, map[string]string{"length": "12", "noise": "cosine", "time_conditioned": "true", "name": "12", "padding": "[4]"}))(t)
	// A text field accepts a number as its text.
	if f.Length != 12 || f.Noise != "cosine" || !f.TimeConditioned || f.Name != "12" || !slices.Equal(f.Padding, []int{4}) || f.MaskID != 7 {
		t.Errorf("%+v", f)
	}
}

// TestApplyRefuses requires the reason in the message, and that a single key changes a single fact.
func TestApplyRefuses(t *testing.T) {
	for _, c := range []struct{ key, value, want string }{
		{"mask", "3", "fact mask"},
		{"digest", "x", "fact digest"},
		{"schema", "x", "fact schema"},
		{"family", "world", "fact family"},
		{"parameters", "1", "fact parameters"},
		{"noise", "pink", "noise is"},
		{"mask_id", "three", "mask_id"},
		{"mask_id", "9", "mask_id is 9"},
		{"mask_id", "-1", "mask_id is -1: must be in 0..8"},
		{"columns", "-1", "columns is -1: must be in 1..16777216"},
		{"length", "-1", "length is -1: must be in 1..1048576"},
		{"length", "0", "length is 0"},
		{"length", "1048577", "must be in 1..1048576"},
		{"length", "9223372036854775807", "must be in 1..1048576"},
		{"columns", "9000000000000000000", "must be in 1..16777216"},
		{"columns", "-9000000000000000000", "must be in 1..16777216"},
		{"columns", "16777217", "must be in 1..16777216"},
		{"columns", "9e18", `field "columns": the number 9`},
		{"columns", "99999999999999999999", `field "columns": the number 9`},
		{"mask_id", "9223372036854775807", "mask_id is"},
		{"padding", "[9223372036854775807]", "padding column"},
		{"name", "a\x1b[2Jb", "name is"},
		{"name", strings.Repeat("n", 300), "at most 200 bytes"},
		{"columns", "1.5", "columns"},
		{"columns", `3,"mask_id":2`, "columns"},
		{"output", "probabilities", "output"},
		{"padding", "[8]", "padding column 8"},
		{"padding", "[0,1,2,3,4,5,6]", "no clean token"},
	} {
		reftest.FailsInLine(t, reftest.Err(Apply(t.Context(), valid(), "", map[string]string{c.key: c.value})), c.want, c.key, c.value)
	}
}

// TestSidecarEndless checks that an endless device is rejected, not read until memory is full.
func TestSidecarEndless(t *testing.T) {
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip("there is no /dev/zero here")
	}
	reftest.Fails(t, reftest.Err(Apply(t.Context(), valid(), "/dev/zero", nil)), "", "/dev/zero is taken for a sidecar")
}

func TestSidecarRefused(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ name, content, want string }{
		{"foreign schema", `{"schema":"other/1"}`, "schema"},
		{"unknown field", `{"mask":1}`, "mask"},
		{"not JSON", `mask: 1`, "model facts"},
		{"two values", `{} {}`, "more than one"},
		{"empty", ``, "the JSON ends too early"},
		{"half", `{"name":`, "the JSON ends too early"},
	} {
		path := filepath.Join(dir, "f.json")
		reftest.OK(t, os.WriteFile(path, []byte(c.content), 0o644))
		reftest.Fails(t, reftest.Err(Apply(t.Context(), valid(), path, nil)), c.want, c.name)
	}
	for _, path := range []string{dir, filepath.Join(dir, "none")} {
		reftest.Fails(t, reftest.Err(Apply(t.Context(), valid(), path, nil)), "", path, "no error")
	}
}

// FuzzDecode requires that accepted facts can be written and read again.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{}`, `{"mask_id":3}`, `{"schema":"mdmgen.model/1","padding":[1]}`, `{"length":1e400}`, `null`, `[]`, "{",
		`{"columns":9000000000000000000,"mask_id":0,"length":1}`, `{"columns":16777216,"length":1048576}`, `{"padding":[-9223372036854775808,9223372036854775807]}`,
		`{"parameters":-1}`, `{"digest":"sha256:x"}`, `{"name":"\u001b[2J"}`, `{"length":9223372036854775807}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got := valid()
		if got.Decode(data) != nil {
			return
		}
		if got.Schema != Schema {
			t.Errorf("schema %q was accepted", got.Schema)
		}
		if got.Validate() == nil && (got.Columns > MaxColumns || got.Length > MaxLength || got.MaskID > got.Columns || len(got.Excluded()) >= got.Columns) {
			t.Errorf("%+v was accepted", got)
		}
	})
}
