package model_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/checkpoint"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// TestNemotronPublished repeats the recorded loops at temperature 0, token by token, with as many calls
// about blocks, and one about the first position of each.
func TestNemotronPublished(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{"nemotron", "nemotron-plain"} {
		dir := reftest.Reference(t, "nemotron", folder)
		m := reftest.Must(open(t, dir, model.Options{}))(t)
		f := reftest.Must(checkpoint.OpenFile(filepath.Join(dir, "nemotron-golden.safetensors")))(t)
		defer f.Close()
		number := func(key string) int { return reftest.Must(strconv.Atoi(f.Metadata[key]))(t) }
		for run, threshold := range map[string]float64{"threshold": 0.5, "one": 1} {
			x, _ := f.Tensor(run + ".tokens")
			starts, _ := f.Tensor(run + ".call_context")
			prompt, size := number("prompt_length"), number("block_size")
			var want []int
			for _, id := range reftest.Must(x.Int64s())(t) {
				want = append(want, int(id))
			}
			canvas := slices.Repeat([]int{m.Facts().MaskID}, len(want))
			copy(canvas, want[:prompt])
			for _, cache := range []string{"", "none"} {
				greedy := 0.0
				o := catalog.Options{Sampler: "threshold", Cache: cache, Draw: draw.Settings{Temperature: &greedy}}
				o.Threshold = threshold
				got, totals := sampled(t, m, canvas, 1, samplers.Config{Method: method(t, m, o)})
				if got, want := fmt.Sprint(got[0]), fmt.Sprint(want); got != want {
					t.Errorf("%s, %s, cache %q:\n%s, want\n%s", folder, run, cache, got, want)
				}
				calls := starts.Shape[0] + (len(want)-prompt+size-1)/size
				if most := len(want) * calls; totals.Calls != calls || cache == "" && 2*totals.Positions > most {
					t.Errorf("%s, %s, cache %q: %d positions in %d calls, want %d calls", folder, run, cache, totals.Positions, totals.Calls, calls)
				}
			}
		}
	}
}
