package model

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/checkpointtest"
	"mdmgen/internal/orttest"
	"mdmgen/internal/reftest"
	"mdmgen/model/checkpoint"
	"mdmgen/model/graph"
	"mdmgen/model/ort"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// keeper opens a checkpoint, with one thread unless o says more.
func keeper(t *testing.T, dir string, o Options) heads {
	t.Helper()
	o.Runtime.Threads = max(o.Runtime.Threads, 1)
	m, err := Open(t.Context(), dir, o)
	orttest.Opened(t, m, err)
	return m.(heads)
}

// tensor returns a tensor of a reference file, nil if the file does not have it.
func tensor[T any](t *testing.T, f *checkpoint.File, read func(checkpoint.Tensor) ([]T, error), name string, at ...any) []T {
	t.Helper()
	x, ok := f.Tensor(fmt.Sprintf(name, at...))
	if !ok {
		return nil
	}
	return reftest.Must(read(x))(t)
}

// apart returns the largest difference, NaN if there is nothing to compare.
func apart(a, b []float32) float64 {
	if len(a) != len(b) || len(a) == 0 {
		return math.NaN()
	}
	worst := 0.0
	for i := range a {
		worst = max(worst, math.Abs(float64(a[i])-float64(b[i])))
	}
	return worst
}

// keptLimit is the reference's limit; two correct executions differ by at most 1.2e-5.
const keptLimit = 1e-4

// TestKeptRows compares rows with stale neighbours, and the kept keys and values after each call,
// with an independent program.
func TestKeptRows(t *testing.T) {
	t.Parallel()
	f := reftest.Must(checkpoint.OpenFile(reftest.Shared(t, "reference", "caches", "rows.safetensors")))(t)
	defer f.Close()
	for _, name := range []string{"llada", "llada-gqa-bf16", "dream", "dream-tied-fp16", "mdlm", "radd"} {
		net := keeper(t, reftest.Checkpoint(t, name), Options{})
		worst := 0.0
		for n := range 10 {
			var k samplers.Kept
			for call := 1; call <= 3; call++ {
				ids := tensor(t, f, checkpoint.Tensor.Int64s, "%s.%d.input_ids.%d", name, n, call)
				c := samplers.Call{IDs: ids, Positions: tensor(t, f, checkpoint.Tensor.Int64s, "%s.%d.query.%d", name, n, call)}
				if call == 1 {
					k, c.Positions = net.Keep(len(ids)), everywhere(len(ids))
				} else {
					c.Compute = slices.Sorted(slices.Values(c.Positions))
				}
				c.Counts, c.Kept = []int{len(c.Positions)}, []samplers.Kept{k}
				rows := reftest.Must(net.Logits(t.Context(), c))(t)
				if want := tensor(t, f, checkpoint.Tensor.Float32s, "%s.%d.logits.%d", name, n, call); call > 1 || n == 2 {
					d := apart(rows, want)
					if worst = max(worst, d); !(d <= keptLimit) {
						t.Errorf("%s, case %d, call %d: rows differ by %g", name, n, call, d)
					}
				}
				if n != 2 {
					continue
				}
				for block := range net.keeps.blocks {
					for i, part := range []string{"key", "value"} {
						want := tensor(t, f, checkpoint.Tensor.Float32s, "%s.2.%s.%d.%d", name, part, call, block)
						got := byPosition(k.(*kept), 2*block+i)
						if d := apart(got, want); !(d <= keptLimit) {
							t.Errorf("%s, %s of block %d after call %d differ by %g", name, part, block, call, d)
						}
					}
				}
			}
		}
		t.Logf("%s: rows differ by at most %.2g", name, worst)
	}
}

// byPosition returns kept keys or values as [length, heads, size].
func byPosition(k *kept, which int) []float32 {
	s := k.of.keeps
	out := make([]float32, 0, s.heads*k.length*s.size)
	for l := range k.length {
		for h := range s.heads {
			at := ((which*s.heads+h)*k.length + l) * s.size
			out = append(out, k.data[at:at+s.size]...)
		}
	}
	return out
}

func everywhere(length int) []int64 {
	p := make([]int64, length)
	for l := range p {
		p[l] = int64(l)
	}
	return p
}

// TestKeptInEveryNetwork checks for each family with float32, int4 and one of the other types of
// weights, which the families take in turn: a call that fills the kept keys and values has the bits
// of one that keeps nothing, in the graph that keeps and in the one that cannot; recomputing rows where nothing changed changes nothing; a canvas has the same bits
// alone and with others; rows that are not computed stay, and the others are renewed.
func TestKeptInEveryNetwork(t *testing.T) {
	reftest.Long(t)
	t.Parallel()
	others := []graph.Dtype{graph.Float16, graph.Int8, graph.Int4Exact}
	for i, name := range []string{"mdlm", "mdlm-timecond", "radd", "sedd", "llada-gqa-bf16", "dream", "qwen2", "qwen3", "bert", "bd3lm", "sdar", "modernbert", "diffugpt", "llada2", "llada-moe", "sdar-moe"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, d := range []graph.Dtype{graph.Float32, graph.Int4, others[i%len(others)]} {
				if d == graph.Int8 && checkpointtest.Experts[name] != "" {
					continue // It is refused.
				}
				net := another(t, name, d)
				keptInNetwork(t, fmt.Sprintf("%s, %s, 4 rows", name, d), net, 4)
				if d == graph.Float32 || d == graph.Int4 { // the types with kernels for single rows
					keptInNetwork(t, fmt.Sprintf("%s, %s, 1 row", name, d), net, 1)
				}
			}
		})
	}
}

// TestKeptOfAFolder opens a converted folder: its rows are the checkpoint's, the first call that
// keeps switches to the second graph, Options.Keeps opens it immediately, and without it nothing is
// kept.
func TestKeptOfAFolder(t *testing.T) {
	t.Parallel()
	dir := Converted(t, "radd")
	call := samplers.Call{IDs: []int64{1, 2, 3, 4, 5, 6}, Positions: []int64{0, 3}, Counts: []int{2}}
	rows := func(m Model, c samplers.Call) []float32 {
		return slices.Clone(reftest.Must(m.Logits(t.Context(), c))(t))
	}
	lazy, atOnce := keeper(t, dir, Options{}), keeper(t, dir, Options{Keeps: true})
	want := rows(lazy, call)
	for _, net := range []heads{lazy, atOnce} {
		kept := call
		kept.Kept = []samplers.Kept{net.Keep(6)}
		asked := make(chan samplers.Spec)
		go func() { asked <- net.Spec() }() // as a server's request does during any call
		if !slices.Equal(rows(net, kept), want) || net.past != nil {
			t.Error("a call that keeps has other rows")
		}
		<-asked
		if kept.Compute = []int64{0, 3}; !(apart(rows(net, kept), want) <= keptLimit) {
			t.Error("rows that are asked again are others")
		}
	}
	reftest.OK(t, os.Remove(filepath.Join(dir, graph.KeptFile)))
	if net := keeper(t, dir, Options{}); net.KeptBytes(6) != 0 || net.Keep(6) != nil || !slices.Equal(rows(net, call), want) {
		t.Error("without the second graph something is kept")
	}
}

func keptInNetwork(t *testing.T, name string, net heads, rows int) {
	const length = 12
	f := net.Facts()
	call := func(changed int, canvases ...int) (c samplers.Call) {
		for _, i := range canvases {
			for l := range length {
				c.IDs = append(c.IDs, int64((17*i+5*l)%f.MaskID))
			}
			c.IDs[len(c.IDs)-length+i] = int64((i + changed) % f.MaskID)
			// A single row is multiplied in another order than several: see below.
			if c.Counts = append(c.Counts, 2+i); f.TimeConditioned {
				c.Sigma = append(c.Sigma, 0.5+float64(i))
			}
			for j := range 2 + i {
				c.Positions = append(c.Positions, int64(i+j%2*(rows/2)))
			}
		}
		return c
	}
	ask := func(c samplers.Call) []float32 {
		t.Helper()
		return slices.Clone(reftest.Must(net.Logits(t.Context(), c))(t, name))
	}
	// The runtime has separate kernels for single rows: for queries in attention, and for 4-bit
	// weights.
	single := strings.HasPrefix(f.Dtype, string(graph.Int4)) && rows == 1
	same := func(what string, a, b []float32) {
		t.Helper()
		if !slices.Equal(a, b) && (!single || !(apart(a, b) <= keptLimit)) {
			t.Errorf("%s: %s differ by %g", name, what, apart(a, b))
		}
	}
	some := func(c samplers.Call, canvases ...int) samplers.Call {
		for _, i := range canvases {
			for j := range rows {
				c.Compute = append(c.Compute, int64(i+j))
			}
		}
		return c
	}
	all := call(0, 0, 1, 2)
	plain := ask(all)
	var k []samplers.Kept
	for range 3 {
		k = append(k, net.Keep(length))
	}
	if all.Kept = k; !slices.Equal(ask(all), plain) {
		t.Errorf("%s: a call that keeps has other rows", name)
	}
	if nothing := call(0, 0, 1, 2); net.past != nil || !slices.Equal(ask(nothing), plain) {
		t.Errorf("%s: a call that keeps nothing has other rows in the graph that can keep", name)
	}
	// A value of a row of int4 that is within 1e-7 of the middle of two steps may be rounded either way;
	// int4-exact, with the same weights and rows of float32, has the usual limit.
	limit := keptLimit
	if f.Dtype == string(graph.Int4) {
		limit = 0.01
	}
	if d := apart(ask(some(all, 0, 1, 2)), plain); !(d <= limit) {
		t.Errorf("%s: asked again, rows differ by %g", name, d)
	}
	own := k[1].(*kept)
	if got, want := int64(4*len(own.data)), net.KeptBytes(length); got != want {
		t.Errorf("%s: %d bytes are kept, not %d", name, got, want)
	}
	before := k[1].Clone().(*kept)
	changed := some(call(1, 0, 1, 2), 0, 1, 2)
	var apiece [][]float32
	for _, net.joint = range []int64{0, 2 * net.KeptBytes(length)} { // each alone; two together
		changed.Kept = []samplers.Kept{k[0].Clone(), before.Clone(), k[2].Clone()}
		apiece = append(apiece, ask(changed))
	}
	net.joint = maxJoint
	changed.Kept = []samplers.Kept{k[0].Clone(), k[1], k[2].Clone()}
	together := ask(changed)
	same("rows one after another", apiece[0], together)
	same("rows in two parts", apiece[1], together)
	alone, after := some(call(1, 1), 1), before.Clone().(*kept)
	alone.Kept = []samplers.Kept{after}
	rowsOf := func(all []float32) []float32 { return all[2*f.Columns : 5*f.Columns] } // of the second canvas
	same("rows with others", rowsOf(together), ask(alone))
	same("what is kept with others", own.data, after.data)
	// In the first block keys and values depend only on the position's own id.
	renewed := net.Keep(length).(*kept)
	whole := call(1, 1)
	whole.Kept = []samplers.Kept{renewed}
	fresh := ask(whole)
	for i := range 2 {
		width := net.keeps.heads * net.keeps.size
		old, now, want := byPosition(before, i), byPosition(own, i), byPosition(renewed, i)
		for l := range length {
			if l < 1 || l > rows {
				copy(want[l*width:(l+1)*width], old[l*width:])
			}
		}
		if d := apart(now, want); !(d <= keptLimit) {
			t.Errorf("%s: kept keys or values are not those of when they were asked: %g", name, d)
		}
		if slices.Equal(now, old) {
			t.Errorf("%s: nothing was renewed", name)
		}
	}
	if slices.Equal(fresh, rowsOf(together)) {
		t.Errorf("%s: rows beside stale ones are those of a call of all", name)
	}
	n := len(alone.Positions)
	best, heat := make([]draw.Best, n), make([]float64, n)
	reftest.OK(t, net.Best(t.Context(), alone, samplers.Drawing{Uniforms: slices.Repeat([]float64{0.5}, n), Temperatures: heat}, best))
	again := ask(alone)
	targets, logMu, mass := make([]int64, n), make([]float64, n), make([]float64, n)
	for i := range best {
		row := again[i*f.Columns : (i+1)*f.Columns]
		row[f.MaskID] = float32(math.Inf(-1))
		for _, p := range f.Padding {
			row[p] = float32(math.Inf(-1))
		}
		if row[best[i].Token] != slices.Max(row) {
			t.Errorf("%s: token %d is not the best", name, best[i].Token)
		}
		targets[i] = int64(best[i].Token)
	}
	reftest.OK(t, net.LogProbs(t.Context(), alone, targets, logMu, mass))
	if logMu[0] >= 0 || math.IsNaN(logMu[0]) {
		t.Errorf("%s: log-probability %g", name, logMu[0])
	}
}

// A graph without the inputs, or with other inputs of those names, keeps nothing.
func TestKeepsNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		shape []int64
		want  keptShape
	}{
		{nil, keptShape{}}, {[]int64{-1, 2, -1}, keptShape{}}, {[]int64{-1, -1, -1, -1}, keptShape{}}, {[]int64{-1, 0, -1, 8}, keptShape{}},
		{[]int64{-1, 1e9, -1, 1e9}, keptShape{}}, {[]int64{-1, 2, -1, 8}, keptShape{1, 2, 8}},
	} {
		n := heads{network: &network{keeps: keptShapeOf(ort.Description{Inputs: []ort.IO{{Name: "kept_keys.0", Type: "float32", Shape: c.shape}}})}}
		if n.keeps != c.want || (n.Keep(4) != nil) != (n.KeptBytes(4) > 0) {
			t.Errorf("%v: keeps %+v, want %+v", c.shape, n.keeps, c.want)
		}
	}
	if k := keptShapeOf(ort.Description{}); k != (keptShape{}) {
		t.Errorf("a graph without inputs keeps %+v", k)
	}
}

// TestApartParts checks that a network whose canvases must be apart gets each in a call of its own.
func TestApartParts(t *testing.T) {
	s, err := ort.Open(t.Context(), ort.Source{Path: reftest.Data(t, "foreign", "scaled.onnx")}, ort.Config{})
	orttest.Opened(t, s, err)
	n := &network{session: s, joint: maxJoint}
	// A caller's empty list may have more behind it.
	call := samplers.Call{IDs: []int64{1, 2, 3, 4}, Positions: []int64{0, 1, 1}, Counts: []int{2, 1}, Sigma: []float64{0.5, 2}, Kept: make([]samplers.Kept, 2)[:0]}
	var parts []samplers.Call
	reftest.OK(t, n.parts(t.Context(), call, func(part samplers.Call, from, to int) error {
		if !slices.Equal(part.Positions, call.Positions[from:to]) || len(part.Kept) > 0 {
			t.Errorf("positions %d to %d of %+v", from, to, part)
		}
		parts = append(parts, part)
		return nil
	}))
	if len(parts) != 2 || !slices.Equal(parts[0].IDs, []int64{1, 2}) || !slices.Equal(parts[1].IDs, []int64{3, 4}) || parts[1].Sigma[0] != 2 {
		t.Errorf("parts are %+v", parts)
	}
}
