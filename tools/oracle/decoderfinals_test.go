package oracle

import (
	"fmt"
	"slices"

	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// decoderFinalsFile repeats runs of LLaDA2 and LLaDA2.1 over several blocks, and compares the final
// canvas and the calls.
func decoderFinalsFile(m *matcher, f *file) {
	in := inputs[struct {
		Runs []struct {
			Decoder       string
			Settings      decoderSettings
			PromptLength  int `json:"prompt_length"`
			Canvas, Final []int
			Calls         int
		}
	}](m.t, f)
	equal := 0
	for i, run := range in.Runs {
		o := reftest.Must(run.Settings.options(run.Decoder, len(run.Canvas), len(run.Canvas), run.PromptLength))(m.t)
		o.Temperature = new(0.0)
		// Blocks are cut from position 0.
		block := run.Settings.BlockSize
		first := run.PromptLength / block * block
		o.BlockLength, o.PromptLength = block, &first
		s := reftest.Must(catalog.New(o, f.net.Spec()))(m.t)
		one := slices.Values([]samplers.Sequence{{Canvas: run.Canvas}})
		if _, err := samplers.Sample(m.t.Context(), f.net, one, samplers.Config{Method: s, Draw: o.Draw}, func(got samplers.Result) error {
			if !slices.Equal(got.IDs, run.Final) || got.RuleCalls != run.Calls {
				return fmt.Errorf("%d calls to %v, want %d to %v", got.RuleCalls, got.IDs, run.Calls, run.Final)
			}
			equal++
			return nil
		}); err != nil {
			m.t.Errorf("run %d, %s: %v", i, run.Decoder, err)
		}
	}
	m.t.Logf("%d of %d runs are equal", equal, len(in.Runs))
}
