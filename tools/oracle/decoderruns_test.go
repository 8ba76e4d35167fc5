package oracle

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/samplers"
	"mdmgen/samplers/cache"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/rank"
)

// decoderRuns is a file of runs of published decoding loops at temperature 0.
type decoderRuns struct {
	Models map[string]decoderModel
	Runs   []decoderRun
}

// decoderModel is a network of such a file.
type decoderModel struct {
	Mask, Columns int
	Excluded      []int
	Digest        string `json:"model.safetensors sha256"`
}

// decoderRun is a run of a batch.
type decoderRun struct {
	ID, Decoder, Model, Columns string
	Settings                    decoderSettings
	PromptLengths               []int `json:"prompt_lengths"`
	Canvas, Final               [][]int
	MasksLeft                   []int `json:"masks_left"`
	Calls                       int
	// Trace lists for each call and row the revealed positions with their tokens, most confident
	// first.
	Trace [][][][2]int
	// Asked lists for each call the begin and end of the computed range.
	Asked    [][2]int
	OrderGap *float64 `json:"order_gap"`
}

// longest is the length of the longest row.
func (r decoderRun) longest() int {
	n := 0
	for _, c := range r.Canvas {
		n = max(n, len(c))
	}
	return n
}

// decoderRunsFile repeats the runs of a file.
func decoderRunsFile(m *matcher, f *file) {
	t := m.t
	in := inputs[decoderRuns](t, f)
	models := make(map[string]model.Model)
	for name, is := range inOrder(in.Models) {
		by := name
		if is.Digest != "" {
			by = "" // the digest is more specific than the name
		}
		ref := reftest.Must(f.in.find(t.Context(), f.path, by, is.Digest, is.Mask))(t)
		longest := 0
		for _, run := range in.Runs {
			if run.Model == name {
				longest = max(longest, run.longest())
			}
		}
		net := openModel(t, ref)
		if net.Facts().Length < longest {
			net = openModel(t, lengthened(t, ref, longest))
		}
		if s := net.Spec(); s.Mask != is.Mask || s.Columns != is.Columns {
			t.Fatalf("model %s has %d columns and mask %d, in the file %d and %d", ref, s.Columns, s.Mask, is.Columns, is.Mask)
		}
		models[name] = net
	}
	made, ofRules := 0, 0
	for _, run := range in.Runs {
		calls, ruleCalls, err := run.repeat(t.Context(), models[run.Model])
		if err != nil {
			t.Errorf("%s: %v", run.ID, err)
		}
		made, ofRules = made+calls, ofRules+ruleCalls
	}
	t.Logf("%d runs; %d calls made of %d", len(in.Runs), made, ofRules)
}

// lengthened returns the folder of a model of LLaDA's family for longer canvases: upstream's loops
// run on any length, and its rotary embeddings have no limit.
func lengthened(t testing.TB, ref string, length int) string {
	t.Helper()
	config := make(map[string]any)
	read(t, filepath.Join(ref, "config.json"), &config)
	config["max_sequence_length"] = length
	text := reftest.Must(json.Marshal(config))(t)
	dir := t.TempDir()
	write := func(name string, data []byte) {
		reftest.OK(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
	write("config.json", text)
	weights := reftest.Must(os.ReadFile(filepath.Join(ref, "model.safetensors")))(t)
	write("model.safetensors", weights)
	return dir
}

// repeat repeats a run, row by row. It returns the numbers of calls of the decoder and of
// upstream's loop, over all rows.
func (run decoderRun) repeat(ctx context.Context, m model.Model) (calls, ruleCalls int, err error) {
	most := 0
	for row, canvas := range run.Canvas {
		prompt := 0
		if row < len(run.PromptLengths) {
			prompt = run.PromptLengths[row]
		}
		o, err := run.Settings.options(run.Decoder, len(canvas), run.longest(), prompt)
		if err != nil {
			return calls, ruleCalls, err
		}
		if run.Columns == "raw" {
			o.Columns = "raw"
		}
		s, err := run.method(o, canvas[0] == m.Spec().Mask, m.Spec())
		if err != nil {
			return calls, ruleCalls, err
		}
		var trace [][][2]int
		var computed []int // by calls that commit a token
		cfg := samplers.Config{Method: s, Draw: o.Draw, OnStep: func(s samplers.Step) {
			var pairs [][2]int
			for i, l := range s.Positions {
				if run.Asked == nil || s.Tokens[i] != m.Spec().Mask {
					pairs = append(pairs, [2]int{l, s.Tokens[i]})
				}
			}
			trace = append(trace, pairs)
			if len(pairs) > 0 {
				computed = append(computed, s.Computed)
			}
		}}
		one := slices.Values([]samplers.Sequence{{Canvas: canvas}})
		if _, err = samplers.Sample(ctx, m, one, cfg, func(got samplers.Result) error {
			most = max(most, got.RuleCalls)
			calls, ruleCalls = calls+got.Calls, ruleCalls+got.RuleCalls
			canvases := 1
			if o.Guidance != 0 {
				canvases = 2
			}
			switch {
			case ownWay[run.ID] != "":
				want := firstBlock(run.Trace, prompt+o.BlockLength)
				return sameCalls(trace[:len(want)], want, true)
			case len(trace) != got.Calls || run.Decoder != "wino" && got.Rows != canvases*got.Calls:
				return fmt.Errorf("row %d: %d steps, %d calls, %d canvases", row, len(trace), got.Calls, got.Rows)
			case !slices.Equal(got.IDs, run.Final[row]):
				return fmt.Errorf("row %d: ids %v, want %v; calls %v", row, got.IDs, run.Final[row], trace)
			case got.Left != run.MasksLeft[row]:
				return fmt.Errorf("row %d: %d masks are left, want %d", row, got.Left, run.MasksLeft[row])
			}
			return nil
		}); err != nil {
			return calls, ruleCalls, err
		}
		if ownWay[run.ID] != "" {
			continue
		}
		var want [][][2]int
		for _, call := range run.Trace {
			want = append(want, call[row])
		}
		if err := sameCalls(trace, want, run.Decoder != "dllm-llada21" && (run.OrderGap == nil || *run.OrderGap >= 1e-5)); err != nil {
			return calls, ruleCalls, fmt.Errorf("row %d: %w", row, err)
		}
		var asked []int
		for i, span := range run.Asked {
			if len(run.Trace[i][row]) > 0 {
				asked = append(asked, span[1]-span[0])
			}
		}
		if run.Asked != nil && !slices.Equal(computed, asked) {
			return calls, ruleCalls, fmt.Errorf("row %d: calls compute %d positions, want %d", row, computed, asked)
		}
	}
	if run.Asked == nil && most != run.Calls { // with a cache, upstream makes calls that commit nothing
		return calls, ruleCalls, fmt.Errorf("%d calls of the rule, want %d", most, run.Calls)
	}
	return calls, ruleCalls, nil
}

// method returns the sampler, or its kernel for runs that the program does not offer: loops need
// not end if MASK can win, and networks that predict position l from row l−1 have no row for
// position 0.
func (run decoderRun) method(o catalog.Options, first bool, spec samplers.Spec) (samplers.Method, error) {
	if o.Cache == "" || o.Columns == "" && !(first && spec.Shift) || o.Sampler != "threshold" && o.Columns != "" {
		return catalog.New(o, spec)
	}
	how, err := cache.Parse(o.Cache)
	if err != nil {
		return nil, err
	}
	how.Block, how.Prompt = o.BlockLength, *o.PromptLength
	o.OutsideKept = true
	k, _, err := rank.Threshold.New(&o.RankOptions, o.LayerOptions, samplers.Build{Steps: &o.Steps, Draw: o.Draw, Spec: spec})
	return filled{cache.Around(k, how)}, err
}

// filled is a kernel as a method that accepts every canvas.
type filled struct{ samplers.Kernel }

func (f filled) Start(c *samplers.Canvas, d *draw.Numbers) (samplers.Decoder, error) {
	return f.Fill(c, d, c.Masked(nil))
}

// ownWay maps runs to the reason why this program deviates after the first block. dLLM's dual cache
// makes no more calls per block than there are quotas, and leaves masks. Dream's loop predicts the
// first position of a block, if MASK won there, from the wrong row.
var ownWay = map[string]string{
	"dllm-fast-llada-dual/llada/12": "leaves masks", "dllm-fast-llada-dual/llada-gqa-bf16/12": "leaves masks", "fast-dream-prefix/dream/15": "wrong row",
}

// firstBlock returns the calls that commit a token before a position.
func firstBlock(trace [][][][2]int, end int) (out [][][2]int) {
	for _, call := range trace {
		if len(call[0]) > 0 && call[0][0][0] < end {
			out = append(out, call[0])
		}
	}
	return out
}

// sameCalls compares what calls committed, ignoring calls that committed nothing.
func sameCalls(got, want [][][2]int, ordered bool) error {
	empty := func(x [][2]int) bool { return len(x) == 0 }
	got, want = slices.DeleteFunc(got, empty), slices.DeleteFunc(want, empty)
	if len(got) != len(want) {
		return fmt.Errorf("%d calls commit something, want %d", len(got), len(want))
	}
	for i := range got {
		if !ordered {
			by := func(a, b [2]int) int { return cmp.Compare(a[0], b[0]) }
			slices.SortFunc(got[i], by)
			slices.SortFunc(want[i], by)
		}
		if !slices.Equal(got[i], want[i]) {
			return fmt.Errorf("call %d commits %v, want %v", i, got[i], want[i])
		}
	}
	return nil
}
