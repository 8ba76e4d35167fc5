package profile

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"slices"

	"mdmgen/analysis/estimate"
	"mdmgen/internal/fault"
	"mdmgen/internal/plainjson"
)

// Schema names the layout of a profile's file.
const Schema = "mdmgen.profile/1"

// maxBytes bounds a file, maxWindows its windows.
const (
	maxBytes   = 1 << 28
	maxWindows = 1 << 20
)

// File is a profile with what it was made of.
type File struct {
	*Profile
	// Provenance and Settings are JSON objects of the program that made it: which program
	// and model, which text, form of estimate and seed. nil where there is none.
	Provenance, Settings any
	// LeftOut is the number of the text's windows that have another number of free
	// positions.
	LeftOut int
	// Confidence is that of the intervals; 0 is 0.95.
	Confidence float64
}

// term is the estimate at one j; Halves are its means over each half, null where there
// is no draw.
type term struct {
	Visible int               `json:"visible"`
	Nats    estimate.Estimate `json:"nats"`
	Halves  [2]*float64       `json:"halves"`
}

// line is a window in a file, where visible is left out when it is 0, 1, … and draws when
// they are 1 each.
type line struct {
	Window  int       `json:"window"`
	Half    int       `json:"half"`
	Visible []int     `json:"visible,omitempty"`
	Draws   []int     `json:"draws,omitempty"`
	Sums    []float64 `json:"sums"`
}

// newLine leaves out what a reader knows.
func newLine(w Window) line {
	out := line{w.Window, w.Half, w.Visible, w.Draws, w.Sums}
	if full := counting(len(w.Visible)); slices.Equal(w.Visible, full) {
		out.Visible = nil
	}
	if ones := slices.Repeat([]int{1}, len(w.Draws)); slices.Equal(w.Draws, ones) {
		out.Draws = nil
	}
	return out
}

// window fills it in.
func (l line) window() Window {
	w := Window{l.Window, l.Half, Terms{l.Visible, l.Draws, l.Sums}}
	if w.Visible == nil {
		w.Visible = counting(len(w.Sums))
	}
	if w.Draws == nil {
		w.Draws = slices.Repeat([]int{1}, len(w.Sums))
	}
	return w
}

// counting is 0, 1, …, n−1.
func counting(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// head is a file without its windows.
type head struct {
	Schema     string `json:"schema"`
	Provenance any    `json:"provenance,omitempty"`
	Settings   any    `json:"settings,omitempty"`
	D          int    `json:"d"`
	Exact      bool   `json:"exact,omitempty"`
	LeftOut    int    `json:"left_out,omitempty"`
	// Terms are worked out from the windows, for those who read the file.
	Terms []term `json:"terms"`
}

// Write writes the file: JSON, a window a line.
func (f File) Write(w io.Writer) error {
	h := head{Schema: Schema, Provenance: f.Provenance, Settings: f.Settings, D: f.D, Exact: f.Exact, LeftOut: f.LeftOut}
	for j, e := range f.Terms(f.Confidence) {
		e.Warnings = nil // Units tell what they would.
		if f.Exact {
			e.N = 0
		}
		h.Terms = append(h.Terms, term{Visible: j, Nats: e})
	}
	for half := range 2 {
		s := f.Half(half)
		for j := range h.Terms {
			if s.draws[j] > 0 {
				mean := s.sums[j] / s.draws[j]
				h.Terms[j].Halves[half] = &mean
			}
		}
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(h); err != nil {
		return fault.Errorf("profile", "%w", err)
	}
	out.Truncate(bytes.LastIndexByte(out.Bytes(), '}'))
	out.WriteString(",\"windows\":[\n")
	for i, win := range f.Windows {
		if i > 0 {
			out.WriteString(",\n")
		}
		text, err := json.Marshal(newLine(win))
		if err != nil {
			return fault.Errorf("profile", "%w", err)
		}
		out.Write(text)
	}
	out.WriteString("]}\n")
	_, err := w.Write(out.Bytes())
	return err
}

// Read reads a file. Its windows are what counts; that its terms are those of the windows
// is checked. Errors say what is wrong with the file in one line.
func Read(r io.Reader) (File, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return File{}, err
	}
	if len(data) > maxBytes {
		return File{}, fault.Errorf("profile", "more than %d bytes", maxBytes)
	}
	var in struct {
		Schema     string          `json:"schema"`
		Provenance json.RawMessage `json:"provenance"`
		Settings   json.RawMessage `json:"settings"`
		D          int             `json:"d"`
		Exact      bool            `json:"exact"`
		LeftOut    int             `json:"left_out"`
		Terms      []term          `json:"terms"`
		Windows    []line          `json:"windows"`
	}
	if err := plainjson.Unmarshal(data, &in); err != nil {
		return File{}, fault.Errorf("profile", "%w", err)
	}
	if in.Schema != Schema {
		return File{}, fault.Errorf("profile", "schema %.40q: must be %s, as `mdmgen score --write-profile` writes it", in.Schema, Schema)
	}
	if len(in.Windows) > maxWindows || in.LeftOut < 0 {
		return File{}, fault.Errorf("profile", "%d windows and %d left out: must be in 0..%d", len(in.Windows), in.LeftOut, maxWindows)
	}
	f := File{Profile: &Profile{D: in.D, Exact: in.Exact}, LeftOut: in.LeftOut}
	for _, l := range in.Windows {
		f.Windows = append(f.Windows, l.window())
	}
	if err := f.check(); err != nil {
		return File{}, fault.Errorf("profile", "%w", err)
	}
	// A missing object stays nil.
	if in.Provenance != nil {
		f.Provenance = in.Provenance
	}
	if in.Settings != nil {
		f.Settings = in.Settings
	}
	return f, f.agrees(in.Terms)
}

// agrees checks a file's terms against its windows.
func (f File) agrees(terms []term) error {
	if len(terms) != f.D {
		return fault.Errorf("profile", "%d terms: must be one for each of %d counts", len(terms), f.D)
	}
	all := f.All()
	for j, t := range terms {
		if t.Visible != j {
			return fault.Errorf("profile", "the term with %d visible stands at %d: they must be in order", t.Visible, j)
		}
		if all.draws[j] == 0 {
			continue
		}
		if mean := all.sums[j] / all.draws[j]; !(math.Abs(t.Nats.Mean-mean) <= 1e-6*(1+math.Abs(mean))) {
			return fault.Errorf("profile", "the term with %d visible is %v, that of the windows %v: measure it again", j, t.Nats.Mean, mean)
		}
	}
	return nil
}
