package bench

import (
	"bytes"
	"encoding/json"
	"fmt"

	"mdmgen/analysis/estimate"
	"mdmgen/internal/fault"
)

// Schema names the layout of a report's JSON form.
const Schema = "mdmgen.bench/1"

// Report is what `mdmgen bench` prints.
type Report struct {
	Schema string `json:"schema"`
	// Provenance says what made the report; it is the caller's.
	Provenance any         `json:"provenance,omitempty"`
	Settings   RunSettings `json:"settings"`
	// Complete says that every cell has all its repetitions and all the quality that was
	// asked for; Interrupted that a user ended the run.
	Complete    bool         `json:"complete"`
	Interrupted bool         `json:"interrupted,omitempty"`
	Cells       []CellReport `json:"cells"`
	// Gains are the pairs of cells that were asked for.
	Gains []Gain `json:"gains,omitempty"`
	// Rates are fitted exponents.
	Rates []Rate `json:"rates,omitempty"`
	// Notes say what the numbers measure, and what they do not.
	Notes []string `json:"notes,omitempty"`
}

// RunSettings are what all cells share. What was not asked for is left out.
type RunSettings struct {
	Sequences   int     `json:"sequences"`
	Repetitions int     `json:"repetitions"`
	Warmup      int     `json:"warmup"`
	Seed        uint64  `json:"seed"`
	MaxSeconds  float64 `json:"max_seconds,omitempty"`
	// Baseline is the ID of the cell that ratios are against.
	Baseline   string  `json:"baseline,omitempty"`
	Confidence float64 `json:"confidence"`
	Prefix     string  `json:"prefix,omitempty"`
	// Pairs are the IDs of cells that are set beside each other.
	Pairs [][2]string `json:"pairs,omitempty"`
	// Profile is "sha256:…" of the file of the profile's grid and sizes.
	Profile string `json:"profile,omitempty"`
	// Quality says what was measured of samples and laws.
	Quality *QualitySettings `json:"quality,omitempty"`
}

// CellReport is a cell with what was measured of it.
type CellReport struct {
	ID string `json:"id"`
	// Settings are the options in force, defaults filled in.
	Settings Fields `json:"settings"`
	// Free is the number of positions that a sequence samples.
	Free     int `json:"free"`
	Expected Law `json:"expected"`
	// Summary is nil before the first repetition.
	Summary     *Summary     `json:"summary,omitempty"`
	Quality     []Quality    `json:"quality,omitempty"`
	Repetitions []Repetition `json:"repetitions"`
	// Failed is why the cell has no more of them, "" where nothing failed.
	Failed string `json:"failed,omitempty"`
}

// Field is an option in force with its value as JSON.
type Field struct {
	Key   string
	Value json.RawMessage
}

// Text is the value without quotes.
func (f Field) Text() string {
	var s string
	if json.Unmarshal(f.Value, &s) == nil {
		return s
	}
	return string(f.Value)
}

// Fields are options in order. In JSON they are an object.
type Fields []Field

// MarshalJSON writes an object.
func (f Fields) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, x := range f {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(x.Key)
		if err != nil {
			return nil, err
		}
		b.Write(append(key, ':'))
		b.Write(x.Value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads an object in its order.
func (f *Fields) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fault.Errorf("bench", "settings are not an object")
	}
	*f = nil
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return err
		}
		*f = append(*f, Field{fmt.Sprint(key), raw})
	}
	return nil
}

// Get returns the text of a field, "" where there is none.
func (f Fields) Get(key string) string {
	for _, x := range f {
		if x.Key == key {
			return x.Text()
		}
	}
	return ""
}

// fields are a cell's options in force.
func fields(c *Cell, threads int) Fields {
	raw, err := json.Marshal(c.Sampler.Settings())
	if err != nil {
		panic(err) // Settings are plain fields, and their numbers are finite or write themselves.
	}
	var out Fields
	if err := out.UnmarshalJSON(raw); err != nil {
		panic(err)
	}
	number := func(n int) json.RawMessage { return json.RawMessage(fmt.Sprint(n)) }
	return append(out, Field{KeyLength, number(len(c.Canvas))}, Field{KeyBatch, number(c.Batch)}, Field{KeyThreads, number(threads)})
}

// Summary is what repetitions of a cell cost.
type Summary struct {
	Repetitions int `json:"repetitions"`
	Sequences   int `json:"sequences"`
	// Calls and FinishCalls are network calls a sequence. Off says how many standard errors
	// they lie from what the sampler's law expects, null where it is not known.
	Calls       estimate.Estimate `json:"calls"`
	CallsOff    estimate.Number   `json:"calls_off"`
	FinishCalls estimate.Estimate `json:"finish_calls"`
	FinishOff   estimate.Number   `json:"finish_off"`
	// Events are those that a sampler simulates, reveals included, nil for one without; they
	// are no calls.
	Events *estimate.Estimate `json:"events,omitempty"`
	// Left is masks left a sequence.
	Left estimate.Estimate `json:"left"`
	// Network, Sampling, Rest and Total are seconds a sequence.
	Network  estimate.Estimate `json:"network_seconds"`
	Sampling estimate.Estimate `json:"sampling_seconds"`
	Rest     estimate.Estimate `json:"rest_seconds"`
	Total    estimate.Estimate `json:"total_seconds"`
	// Overhead is total over network time: 1 where nothing but the network takes time.
	Overhead estimate.Estimate `json:"total_over_network"`
	// Effective is tokens sampled a second of wall-clock time, InNetwork a second of network
	// time; InStep canvas positions computed a second of wall-clock time.
	Effective estimate.Estimate `json:"tokens_per_second"`
	InNetwork estimate.Estimate `json:"tokens_per_network_second"`
	InStep    estimate.Estimate `json:"in_step_tokens_per_second"`
	// RowsPerCall is the mean number of canvases in a network call.
	RowsPerCall float64 `json:"rows_per_call"`
	PeakBytes   int64   `json:"peak_bytes,omitempty"`
	// Ratio is seconds over those of the baseline, the geometric mean of pairs of one
	// round; nil without a baseline.
	Ratio *estimate.Estimate `json:"ratio,omitempty"`
}

// Threads tells the number of threads of a cell.
type Threads func(*Cell) int

// Summarise makes a report of cells and their repetitions. threads tells what is written
// of a cell's network.
func Summarise(cells []Cell, reps []Repetition, s RunSettings, threads Threads) Report {
	out := Report{Schema: Schema, Settings: s, Cells: make([]CellReport, len(cells))}
	at := make(map[string]*CellReport)
	for i := range cells {
		c := &cells[i]
		out.Cells[i] = CellReport{ID: c.ID, Settings: fields(c, threads(c)), Free: c.Free, Expected: c.Law, Repetitions: []Repetition{}}
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
			c.Summary = summary(c.Repetitions, cells[i].Law, s.Confidence)
		}
	}
	if base := at[s.Baseline]; base != nil {
		for i := range out.Cells {
			if c := &out.Cells[i]; c.Summary != nil {
				c.Summary.Ratio = ratio(c.Repetitions, base.Repetitions, s.Confidence)
			}
		}
	}
	return out
}
