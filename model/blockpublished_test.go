package model_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/checkpoint"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// TestBlockPublished repeats the authors' loops at temperature 0, token by token.
func TestBlockPublished(t *testing.T) {
	reftest.Long(t)
	t.Parallel()
	greedy := 0.0
	ranked := func(name string, steps, block int, threshold float64) catalog.Options {
		o := catalog.Options{Sampler: name, Steps: steps, Draw: draw.Settings{Temperature: &greedy}}
		o.BlockLength, o.Threshold = block, threshold
		return o
	}
	leftmost := ranked("confidence", 64, 0, 0)
	leftmost.Score = "leftmost"
	for _, c := range []struct {
		folder, mask, prompt, run string
		options                   catalog.Options
		cache                     string
	}{
		{"sdar", "90", "prompt", "static", ranked("confidence", 16, 0, 0), ""},
		{"sdar", "90", "prompt", "dynamic", ranked("threshold", 0, 0, 0.4), ""},
		{"sdar", "90", "prompt", "sequential", ranked("ordered", 0, 0, 0), ""},
		{"sdar", "90", "prompt", "sequential", leftmost, ""},
		{"fast-dllm-v2", "80", "prompt", "plain", ranked("threshold", 0, 4, 0.4), ""},
		{"fast-dllm-v2", "80", "prompt", "one", ranked("threshold", 0, 4, 1), ""},
		{"fast-dllm-v2", "80", "prompt", "subblock", ranked("threshold", 0, 4, 0.4), "dual"},
		{"fast-dllm-v2", "80", "short.prompt", "short", ranked("threshold", 0, 4, 0.4), ""},
		{"moe/llada2", "96", "prompt", "threshold", ranked("llada2", 8, 8, 0.45), ""},
		{"moe/llada2", "96", "prompt", "quota", ranked("llada2", 4, 8, 1), ""},
		{"moe/llada2-plain", "90", "prompt", "threshold", ranked("llada2", 4, 4, 0.45), ""},
		{"moe/llada2-plain", "90", "prompt", "quota", ranked("llada2", 2, 4, 1), ""},
		{"fast-dllm-v2", "80", "exact.prompt", "exact", ranked("threshold", 0, 4, 0.4), ""},
	} {
		kind, file, override := "checkpoints", "block-golden.safetensors", map[string]string{"mask_id": c.mask}
		if name, ok := strings.CutPrefix(c.folder, "moe/"); ok {
			kind, file, c.folder = "moe", "moe-golden.safetensors", name
			override["block_size"] = fmt.Sprint(c.options.BlockLength)
		}
		dir := reftest.Reference(t, kind, c.folder)
		m := reftest.Must(open(t, dir, model.Options{Override: override}))(t)
		f := reftest.Must(checkpoint.OpenFile(filepath.Join(dir, file)))(t)
		ids := func(name string) (out []int) {
			x, ok := f.Tensor(name)
			if !ok {
				t.Fatal(name)
			}
			for _, id := range reftest.Must(x.Int64s())(t) {
				out = append(out, int(id))
			}
			return out
		}
		want := ids(c.run + ".tokens")
		canvas := slices.Repeat([]int{m.Facts().MaskID}, len(want))
		copy(canvas, ids(c.prompt))
		caches := []string{"", "none"}
		if c.cache != "" {
			caches = []string{c.cache}
		}
		for _, cache := range caches {
			c.options.Cache = cache
			got, _ := sampled(t, m, canvas, 1, samplers.Config{Method: method(t, m, c.options)})
			if got, want := fmt.Sprint(got[0]), fmt.Sprint(want); got != want {
				t.Errorf("%s, %s, cache %q:\n%s, want\n%s", c.folder, c.run, cache, got, want)
			}
		}
		f.Close()
	}
}
