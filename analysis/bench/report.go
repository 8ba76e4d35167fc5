package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"mdmgen/analysis/estimate"
)

// Schema names the layout of a report's JSON form.
const Schema = "mdmgen.bench/1"

// Report is the output of `mdmgen bench`.
type Report struct {
	Schema string `json:"schema"`
	// Provenance is set by the caller: program, model and runtime.
	Provenance any         `json:"provenance,omitempty"`
	Settings   RunSettings `json:"settings"`
	// Complete reports whether every cell has all its repetitions and all the quality requested;
	// Interrupted reports whether a user ended the run.
	Complete    bool         `json:"complete"`
	Interrupted bool         `json:"interrupted,omitempty"`
	Cells       []CellReport `json:"cells"`
	// Notes explain the numbers.
	Notes []string `json:"notes,omitempty"`
}

// RunSettings holds the settings that all cells share, without those that were not requested.
type RunSettings struct {
	Sequences   int     `json:"sequences"`
	Repetitions int     `json:"repetitions"`
	Warmup      int     `json:"warmup"`
	Seed        uint64  `json:"seed"`
	MaxSeconds  float64 `json:"max_seconds,omitempty"`
	Confidence  float64 `json:"confidence"`
	Prefix      string  `json:"prefix,omitempty"`
	// Calls are the numbers of calls for which steps were chosen.
	Calls []int `json:"calls,omitempty"`
	// Profile is "sha256:…" of spread's interactions.
	Profile string `json:"profile,omitempty"`
	// Quality configures the measurements of samples and laws, nil for none.
	Quality *QualitySettings `json:"quality,omitempty"`
}

// CellReport holds a cell and its measurements.
type CellReport struct {
	ID string `json:"id"`
	// Settings are the options in force, including defaults.
	Settings Fields `json:"settings"`
	// Free is the number of positions that a sequence samples.
	Free     int      `json:"free"`
	Expected Expected `json:"expected"`
	// Summary is nil before the first repetition.
	Summary     *Summary     `json:"summary,omitempty"`
	Quality     []Quality    `json:"quality,omitempty"`
	Repetitions []Repetition `json:"repetitions"`
	// Failed is the reason why the cell has no more repetitions, "" if nothing failed.
	Failed string `json:"failed,omitempty"`
}

// Fields holds the options in force: an object in JSON, in its order.
type Fields struct {
	json.RawMessage
	keys, values []string
}

// Get returns a value without quotes, "" if there is none.
func (f Fields) Get(key string) string {
	if i := slices.Index(f.keys, key); i >= 0 {
		return f.values[i]
	}
	return ""
}

// Keys returns the names of the values, in their order.
func (f Fields) Keys() []string { return f.keys }

// fields returns a cell's options in force.
func fields(c *Cell, threads int) (out Fields) {
	raw, err := json.Marshal(c.Sampler.Settings())
	if err != nil {
		panic(err) // Settings are plain fields whose numbers are finite or marshal themselves.
	}
	out.RawMessage = fmt.Appendf(raw[:len(raw)-1], `,"%s":%d,"%s":%d,"%s":%d}`, KeyLength, len(c.Canvas)-len(c.Model.Facts().Frame), KeyBatch, c.Batch, KeyThreads, threads)
	d := json.NewDecoder(bytes.NewReader(out.RawMessage))
	for _, err = d.Token(); err == nil && d.More(); {
		key, _ := d.Token()
		var value json.RawMessage
		err = d.Decode(&value)
		text := string(value)
		if s := ""; json.Unmarshal(value, &s) == nil {
			text = s
		}
		out.keys, out.values = append(out.keys, fmt.Sprint(key)), append(out.values, text)
	}
	return out
}

// Summary holds the cost of a cell's repetitions.
type Summary struct {
	Repetitions int `json:"repetitions"`
	Sequences   int `json:"sequences"`
	// Calls and FinishCalls are network calls per sequence.
	Calls       estimate.Estimate `json:"calls"`
	FinishCalls estimate.Estimate `json:"finish_calls"`
	// Left is the number of masks left per sequence.
	Left estimate.Estimate `json:"left"`
	// Network, Sampling, Rest and Total are seconds per sequence.
	Network  estimate.Estimate `json:"network_seconds"`
	Sampling estimate.Estimate `json:"sampling_seconds"`
	Rest     estimate.Estimate `json:"rest_seconds"`
	Total    estimate.Estimate `json:"total_seconds"`
	// Effective is the number of tokens sampled per second of wall-clock time, InStep the number of
	// canvas positions computed.
	Effective estimate.Estimate `json:"tokens_per_second"`
	InStep    estimate.Estimate `json:"in_step_tokens_per_second"`
	// RowsPerCall is the mean number of canvases in a network call.
	RowsPerCall float64 `json:"rows_per_call"`
	PeakBytes   int64   `json:"peak_bytes,omitempty"`
}

// Summarise returns a report on cells and their repetitions. threads returns the number of threads
// of a cell's network.
func Summarise(cells []Cell, reps []Repetition, s RunSettings, threads func(*Cell) int) Report {
	out := Report{Schema: Schema, Settings: s, Cells: make([]CellReport, len(cells))}
	at := make(map[string]*CellReport)
	for i := range cells {
		c := &cells[i]
		out.Cells[i] = CellReport{ID: c.ID, Settings: fields(c, threads(c)), Free: c.Free, Expected: c.Expected, Repetitions: []Repetition{}}
		at[c.ID] = &out.Cells[i]
	}
	for _, r := range reps {
		if c := at[r.Cell]; c != nil {
			c.Repetitions = append(c.Repetitions, r)
		}
	}
	for i := range out.Cells {
		c := &out.Cells[i]
		sortRounds(c.Repetitions)
		if len(c.Repetitions) > 0 {
			c.Summary = summary(c.Repetitions, s.Confidence)
		}
	}
	return out
}
