package oracle

import (
	"encoding/hex"
	"fmt"
	"slices"

	"mdmgen/analysis/likelihood"
)

// windowsFile is the content of a file of windows. Values are −log P in nats, +Inf where
// the file has null.
type windowsFile struct {
	SHA256   string
	D        int
	T, Delta float64
	// Windows are canvases of d tokens without context, in the order of where they start in
	// their text.
	Windows []windowValues
}

type windowValues struct {
	IDs                     []int
	NELBO, FHS, LeftToRight float64
	Grid                    []gridValue
}

// gridValue is a sampler's on N steps, masks left and filled.
type gridValue struct {
	Sampler        string
	N              int
	Leave, Denoise float64
}

// readWindows reads such a file: every field of it, each where it must be, and nothing that
// is not known.
func readWindows(data []byte) (*windowsFile, error) {
	doc, err := readDocument(data)
	if err != nil {
		return nil, err
	}
	in := new(inputs)
	in.only(doc, "schema", "model_safetensors_sha256", "d", "T", "delta", "time", "units", "windows")
	f := &windowsFile{D: in.integer(doc, "d", 1, likelihood.MaxFree), T: in.number(doc, "T", 1e-6, 700), Delta: in.number(doc, "delta", 0, 700)}
	if doc.fields["model_safetensors_sha256"] != nil {
		f.SHA256 = in.text(doc, "model_safetensors_sha256")
		if sum, err := hex.DecodeString(f.SHA256); err != nil || len(sum) != 32 {
			in.fail("field %q: must be 64 hexadecimal digits", "model_safetensors_sha256")
		}
	}
	if in.err == nil && !(f.T > f.Delta) {
		in.fail("T is %v and delta is %v: must be T > delta", f.T, f.Delta)
	}
	nodes := in.list(doc, "windows")
	if in.err == nil && len(nodes) == 0 {
		in.fail("field %q: has no window", "windows")
	}
	last := -1
	for i, n := range nodes {
		if in.err != nil {
			return nil, in.err
		}
		w, start, err := readWindow(n, f.D)
		if err != nil {
			return nil, fmt.Errorf("windows[%d]: %w", i, err)
		}
		if start >= 0 {
			if start <= last {
				return nil, fmt.Errorf("windows[%d]: start is %d, and that of a window before it %d: must rise", i, start, last)
			}
			last = start
		}
		f.Windows = append(f.Windows, w)
	}
	return f, in.err
}

// readWindow reads a window, and where it starts in its text: −1 where that is not told.
func readWindow(n *node, d int) (w windowValues, start int, err error) {
	if !n.isObject() {
		return w, 0, fmt.Errorf("is %s: must be an object", n.words())
	}
	in := new(inputs)
	in.only(n, "start", "ids", "nelbo", "fhs", "left_to_right", "grid")
	if start = -1; n.fields["start"] != nil {
		start = in.integer(n, "start", 0, 1<<50)
	}
	w = windowValues{
		IDs:   in.integers(n, "ids", 0, 1<<31-1),
		NELBO: in.cost(n, "nelbo"), FHS: in.cost(n, "fhs"), LeftToRight: in.cost(n, "left_to_right"),
	}
	if in.err == nil && len(w.IDs) != d {
		in.fail("field %q: %d ids: must be d = %d", "ids", len(w.IDs), d)
	}
	for k, g := range in.list(n, "grid") {
		if !g.isObject() {
			in.fail("grid[%d] is %s: must be an object", k, g.words())
			break
		}
		row := new(inputs)
		row.only(g, "sampler", "N", "leave", "denoise")
		v := gridValue{Sampler: row.text(g, "sampler"), N: row.integer(g, "N", 1, 1<<20), Leave: row.cost(g, "leave"), Denoise: row.cost(g, "denoise")}
		if row.err == nil && v.Sampler != "euler" && v.Sampler != "tweedie" {
			row.fail("sampler is %.40q: must be euler or tweedie", v.Sampler)
		}
		if row.err == nil && slices.ContainsFunc(w.Grid, func(o gridValue) bool { return o.Sampler == v.Sampler && o.N == v.N }) {
			row.fail("%s with N = %d appears twice", v.Sampler, v.N)
		}
		if row.err != nil {
			in.fail("grid[%d]: %w", k, row.err)
		}
		w.Grid = append(w.Grid, v)
	}
	return w, start, in.err
}

// only refuses fields that nothing recomputes.
func (in *inputs) only(n *node, names ...string) {
	for _, name := range n.names {
		if !slices.Contains(names, name) && n.fields[name].numeric() {
			in.fail("field %.60s is not known: nothing recomputes it", name)
		}
	}
}

// cost is a field that must be a number of at least 0, or null for +Inf.
func (in *inputs) cost(n *node, name string) float64 {
	x, ok := in.get(n, name).number()
	if !ok || !(x >= 0) {
		in.fail("field %q is %s: must be a number of at least 0, or null for an infinite one", name, in.get(n, name).words())
		return 0
	}
	return x
}
