package likelihood

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"mdmgen/internal/orttest"
	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/checkpoint"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/rank"
)

// blockCausal lists small random networks of each kind, in blocks of 4 and of 8, with the ids of
// their masks.
var blockCausal = map[string]string{"bd3lm": "88", "bd3lm-noadaln": "70", "bd3lm-block8": "82", "sdar": "90", "fast-dllm-v2": "80", "moe/sdar-moe": "61", "moe/llada2-plain": "90"}

func openBlocks(t *testing.T, name string) *Evaluator {
	t.Helper()
	facts := map[string]string{"mask_id": blockCausal[name]}
	if name == "moe/llada2-plain" {
		facts["block_size"] = "4" // its config does not have it
	}
	m, err := model.Open(t.Context(), reftest.Checkpoint(t, name), model.Options{Runtime: orttest.OneThread, Override: facts})
	orttest.Opened(t, m, err)
	return reftest.Must(New(m, Options{Blocks: true}))(t)
}

// TestBlockNELBOPublished compares −log μ/t at the masked positions of two texts, and their mean,
// with the values recorded by the authors' evaluation of the NELBO.
func TestBlockNELBOPublished(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"bd3lm", "bd3lm-block8", "bd3lm-noadaln"} {
		e := openBlocks(t, name)
		f := reftest.Must(checkpoint.OpenFile(filepath.Join(reftest.Checkpoint(t, name), "block-golden.safetensors")))(t)
		floats := func(part string) []float32 {
			x, _ := f.Tensor("nelbo." + part)
			return reftest.Must(x.Float32s())(t)
		}
		ids := func(part string) []int64 {
			x, _ := f.Tensor("nelbo." + part)
			return reftest.Must(x.Int64s())(t)
		}
		clean, noisy := ids("x0"), ids("xt")
		terms, times, counted := floats("terms"), floats("t"), floats("token_mask")
		length := len(clean) / 2
		var loss, tokens, worst float64
		for from := 0; from < len(clean); from += length {
			target := Target{}
			var a Ask
			for l, id := range clean[from : from+length] {
				target.IDs = append(target.IDs, int(id))
				if noisy[from+l] != id {
					a.Masked = append(a.Masked, l)
				}
			}
			target.Free = []int{1}
			a.Target, a.Wanted, a.LogMu, a.Lambda = &target, a.Masked, make([]float64, len(a.Masked)), 1
			reftest.OK(t, e.evalBlocks(t.Context(), &target, []Ask{wholeAsk(&target, target.Free), a}))
			for j, l := range a.Masked {
				got := -a.LogMu[j] / float64(times[from+l]) * float64(counted[from+l])
				worst = max(worst, math.Abs(got-float64(terms[from+l]))*float64(times[from+l]))
				loss += got
			}
			for _, x := range counted[from : from+length] {
				tokens += float64(x)
			}
		}
		// The two programs behind the file differ by 1.2e-5 in a term.
		want := float64(floats("loss")[0])
		if t.Logf("%s: log μ differ by at most %.2g, the loss %g, want %g", name, worst, loss/tokens, want); !(worst <= 5e-5) || math.Abs(loss/tokens-want) > 5e-5 {
			t.Errorf("%s: log μ differ by %g, the loss is %g, want %g", name, worst, loss/tokens, want)
		}
		f.Close()
	}
}

// TestDraws checks that draws which are answered a few at a time have the values of the estimate, for
// networks with and without blocks.
func TestDraws(t *testing.T) {
	t.Parallel()
	const n = 5
	evaluators := map[string]*Evaluator{"timed3": mustNew(t, openWorld(t, reftest.Law(t, "timed3")))}
	for _, name := range []string{"sdar", "fast-dllm-v2", "bd3lm-block8"} {
		evaluators[name] = openBlocks(t, name)
	}
	for name, e := range evaluators {
		target := Target{IDs: make([]int, min(e.facts.Length, 11))}
		for l := range target.IDs {
			if target.IDs[l] = l * l % 2; l > 0 {
				target.Free = append(target.Free, l)
			}
		}
		want := reftest.Must(e.Estimate(t.Context(), []Target{target}, 3, Config{Draws: n, Seed: 8}))(t)[0].Nats.Mean
		draws := e.Draws(&target, n, 8, 3)
		var got float64
		for from := 0; from < n; from += 2 {
			to := min(from+2, n)
			reftest.OK(t, draws.Eval(t.Context(), e, draws.Asks[from:to]))
			for i := from; i < to; i++ {
				got += draws.Nats(i) / n
			}
		}
		if !(math.Abs(got-want) <= 1e-5*want) {
			t.Errorf("%s: draws have the mean %g, the estimate is %g", name, got, want)
		}
	}
}

// TestBlockLikelihood checks for each network that −log P of first-hitting in blocks, by
// enumeration inside each block, equals that of a replayed decoder which reveals positions of the
// whole text one by one in uniform order; that it is at most the exact NELBO, which estimates agree
// with; and that the left-to-right chain equals the one computed position by position.
func TestBlockLikelihood(t *testing.T) {
	reftest.Long(t)
	t.Parallel()
	for name := range blockCausal {
		e := openBlocks(t, name)
		spec := e.model.Spec()
		size := spec.BlockSize
		var target Target
		for l := range 11 { // three blocks of 4, or two of 8
			target.IDs = append(target.IDs, (7*l+3)%60)
			if l > 0 && l != size+1 {
				target.Free = append(target.Free, l)
			}
		}
		fhs := reftest.Must(catalog.New(catalog.Options{}, spec))(t)
		values := reftest.Must(e.Values(t.Context(), []Target{target}, fhs))(t)[0]
		one := reftest.Must(catalog.New(catalog.Options{Sampler: "confidence", Steps: 3 * size, RankOptions: catalog.RankOptions{Score: rank.ByRandom}}, spec))(t)
		replayed := reftest.Must(e.Values(t.Context(), []Target{target}, one))(t)[0].Sampler.NegLog
		if got := values.Sampler.NegLog; math.Abs(got-replayed) > 1e-4 || float64(*values.FHS) != got {
			t.Errorf("%s: −log P is %v by parts, %v by a replay, FHS %v", name, got, replayed, *values.FHS)
		}
		nelbo := float64(*values.NELBO)
		if nelbo < values.Sampler.NegLog {
			t.Errorf("%s: NELBO %v below −log P %v", name, nelbo, values.Sampler.NegLog)
		}
		r := reftest.Must(e.Estimate(t.Context(), []Target{target, target}, 0, Config{Draws: 256, Seed: 1}))(t)
		for _, r := range r {
			if d := math.Abs(r.Nats.Mean - nelbo); d > 4*r.Nats.SE || r.Nats.SE > 0.05*nelbo {
				t.Errorf("%s: the NELBO is estimated to be %v ± %v, want %v", name, r.Nats.Mean, r.Nats.SE, nelbo)
			}
		}
		t.Logf("%s: −log P %.4f, NELBO %.4f, estimated %.4f ± %.4f by %d rows", name, values.Sampler.NegLog, nelbo, r[0].Nats.Mean, r[0].Nats.SE, r[0].Rows)
		chain, visible := 0.0, Target{IDs: target.IDs}
		for i, l := range target.Free {
			visible.Free = target.Free[i:]
			a := []Ask{{Target: &visible, Masked: visible.Free, Wanted: []int{l}, LogMu: make([]float64, 1)}}
			reftest.OK(t, e.Eval(t.Context(), a))
			chain -= a[0].LogMu[0]
		}
		if got := float64(*values.LeftToRight); math.Abs(got-chain) > 1e-4 {
			t.Errorf("%s: left to right is %v, want %v", name, got, chain)
		}
		short := Target{IDs: target.IDs[:3], Free: []int{1, 2}}
		exact := reftest.Must(e.Values(t.Context(), []Target{short}, fhs))(t)[0]
		if r := reftest.Must(e.Estimate(t.Context(), []Target{short}, 0, Config{Draws: 512}))(t)[0]; math.Abs(r.Nats.Mean-float64(*exact.NELBO)) > 4*r.Nats.SE+1e-9 {
			t.Errorf("%s: of a part of a block the NELBO is %v, want %v", name, r.Nats, *exact.NELBO)
		}
	}
}

// TestBlocksRefused checks what is an error for a block-causal network.
func TestBlocksRefused(t *testing.T) {
	t.Parallel()
	e := openBlocks(t, "bd3lm")
	reftest.Fails(t, reftest.Err(New(e.model, Options{})), "", "a block-causal network is asked as others are")
	for _, form := range slices.Concat(Forms()[1:], Protocols()) {
		reftest.Fails(t, (Config{Form: form}).Check(e.facts), "", "estimator", form, "is taken")
	}
	spec := e.model.Spec()
	half := reftest.Must(catalog.New(catalog.Options{LayerOptions: catalog.LayerOptions{BlockLength: 2}}, spec))(t)
	reftest.Fails(t, e.Fits(4, half), "", "half blocks have a law")
}
