package oracle

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"mdmgen/model"
	"mdmgen/samplers"
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
	// Trace has of each call and row the positions with the tokens that they got, most
	// confident first.
	Trace    [][][][2]int
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

// DecoderReport is the outcome for a file of runs of decoders.
type DecoderReport struct {
	// Runs counts those that were compared, NotOpened those of models that were not opened.
	Runs, NotOpened int
	// Calls are those that the decoders made, RuleCalls those of upstream's loops.
	Calls, RuleCalls int
	// Differences tells of each run that differs.
	Differences []string
}

// Decoders repeats the runs of a file. open opens a model for canvases of up to a length, or
// returns nil for one that cannot be opened here.
func (d *Folder) Decoders(ctx context.Context, path string, open func(ref string, length int) model.Model) (r DecoderReport, err error) {
	_, f, err := d.open(path)
	if err != nil {
		return r, err
	}
	var file decoderRuns
	if err := json.Unmarshal(f.data, &file); err != nil {
		return r, fmt.Errorf("%s: %w", path, err)
	}
	models := make(map[string]model.Model)
	for name, is := range inOrder(file.Models) {
		mask := float64(is.Mask)
		by := name
		if is.Digest != "" {
			by = "" // the digest says more than a name
		}
		ref, err := d.find(ctx, path, by, is.Digest, &mask)
		if err != nil {
			return r, err
		}
		longest := 0
		for _, run := range file.Runs {
			if run.Model == name {
				longest = max(longest, run.longest())
			}
		}
		m := open(ref, longest)
		if m == nil {
			continue
		}
		if s := m.Spec(); s.Mask != is.Mask || s.Columns != is.Columns {
			return r, fmt.Errorf("%s: model %s has %d columns and mask %d, in the file %d and %d", path, ref, s.Columns, s.Mask, is.Columns, is.Mask)
		}
		models[name] = m
	}
	for _, run := range file.Runs {
		m := models[run.Model]
		if m == nil {
			r.NotOpened++
			continue
		}
		r.Runs++
		if err := r.repeat(ctx, m, run); err != nil {
			r.Differences = append(r.Differences, fmt.Sprintf("%s: %v", run.ID, err))
		}
	}
	return r, nil
}

// repeat repeats a run, row by row.
func (r *DecoderReport) repeat(ctx context.Context, m model.Model, run decoderRun) error {
	ruleCalls := 0
	for row, canvas := range run.Canvas {
		prompt := 0
		if row < len(run.PromptLengths) {
			prompt = run.PromptLengths[row]
		}
		o, err := run.Settings.options(run.Decoder, len(canvas), run.longest(), prompt)
		if err != nil {
			return err
		}
		if run.Columns == "raw" {
			o.Columns = "raw"
		}
		s, err := samplers.New(o, m.Spec())
		if err != nil {
			return err
		}
		var trace [][][2]int
		cfg := samplers.Config{Method: s, Draw: o.Draw, OnStep: func(s samplers.Step) {
			var pairs [][2]int
			for i, l := range s.Positions {
				pairs = append(pairs, [2]int{l, s.Tokens[i]})
			}
			trace = append(trace, pairs)
		}}
		one := slices.Values([]samplers.Sequence{{Canvas: canvas}})
		if _, err = samplers.Sample(ctx, m, one, cfg, func(got samplers.Result) error {
			ruleCalls = max(ruleCalls, got.RuleCalls)
			r.Calls, r.RuleCalls = r.Calls+got.Calls, r.RuleCalls+got.RuleCalls
			canvases := 1
			if o.Guidance != 0 {
				canvases = 2
			}
			switch {
			case len(trace) != got.Calls || got.Rows != canvases*got.Calls:
				return fmt.Errorf("row %d: %d steps, %d calls, %d canvases", row, len(trace), got.Calls, got.Rows)
			case !slices.Equal(got.IDs, run.Final[row]):
				return fmt.Errorf("row %d: ids %v, want %v; calls %v", row, got.IDs, run.Final[row], trace)
			case got.Left != run.MasksLeft[row]:
				return fmt.Errorf("row %d: %d masks are left, want %d", row, got.Left, run.MasksLeft[row])
			}
			return nil
		}); err != nil {
			return err
		}
		var want [][][2]int
		for _, call := range run.Trace {
			want = append(want, call[row])
		}
		if err := sameCalls(trace, want, run.Decoder != "dllm-llada21" && (run.OrderGap == nil || *run.OrderGap >= 1e-5)); err != nil {
			return fmt.Errorf("row %d: %w", row, err)
		}
	}
	if ruleCalls != run.Calls {
		return fmt.Errorf("%d calls of the rule, want %d", ruleCalls, run.Calls)
	}
	return nil
}

// sameCalls compares what calls committed, but for those that committed nothing.
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
