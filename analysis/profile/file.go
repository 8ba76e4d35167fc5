package profile

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"

	"mdmgen/analysis/interaction"
	"mdmgen/internal/fault"
	"mdmgen/internal/plainjson"
)

// Schema names the layout of a profile's file with the loss alone, SchemaInteractions the layout
// with interactions and an optional loss.
const (
	Schema             = "mdmgen.profile/1"
	SchemaInteractions = "mdmgen.profile/2"
)

// maxBytes bounds a file's size, maxWindows its number of windows.
const (
	maxBytes   = 1 << 28
	maxWindows = 1 << 20
)

// File is a profile with its origin.
type File struct {
	*Profile // nil if only interactions were measured
	// Interactions is nil if they were not measured.
	Interactions *interaction.Profile
	// Provenance and Settings are JSON objects from the program that made the profile: its version
	// and model, and the text, form of estimate and seed. They are nil if missing.
	Provenance, Settings any
	// LeftOut is the number of the text's windows with another number of free positions.
	LeftOut int
}

// line is a window in a file. visible is omitted if it is 0, 1, …, and draws if all are 1.
type line struct {
	Window  int       `json:"window"`
	Visible []int     `json:"visible,omitempty"`
	Draws   []int     `json:"draws,omitempty"`
	Sums    []float64 `json:"sums"`
}

// newLine omits the fields with default values.
func newLine(w Window) line {
	out := line{w.Window, w.Visible, w.Draws, w.Sums}
	if slices.Equal(w.Visible, counting(len(w.Sums))) {
		out.Visible = nil
	}
	if slices.Equal(w.Draws, slices.Repeat([]int{1}, len(w.Sums))) {
		out.Draws = nil
	}
	return out
}

// window restores the default values.
func (l line) window() Window {
	if l.Visible == nil {
		l.Visible = counting(len(l.Sums))
	}
	if l.Draws == nil {
		l.Draws = slices.Repeat([]int{1}, len(l.Sums))
	}
	return Window{l.Window, Terms{l.Visible, l.Draws, l.Sums}}
}

// counting returns 0, 1, …, n−1.
func counting(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// head is the JSON form of a file.
type head struct {
	Schema     string `json:"schema"`
	Provenance any    `json:"provenance,omitempty"`
	Settings   any    `json:"settings,omitempty"`
	D          int    `json:"d,omitempty"`
	Exact      bool   `json:"exact,omitempty"`
	LeftOut    int    `json:"left_out,omitempty"`

	Interactions *interaction.Profile `json:"interactions,omitempty"`
	// Windows are read with the rest, and written by Write, one per line.
	Windows []line `json:"windows,omitempty"`
}

// Write writes the file as JSON, one window per line.
func (f File) Write(w io.Writer) error {
	h := head{Schema: Schema, Provenance: f.Provenance, Settings: f.Settings, LeftOut: f.LeftOut, Interactions: f.Interactions}
	var windows []Window
	if f.Profile != nil {
		h.D, h.Exact, windows = f.D, f.Exact, f.Windows
	}
	if f.Interactions != nil {
		h.Schema = SchemaInteractions
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(h); err != nil {
		return fault.Errorf("profile", "%w", err)
	}
	if windows == nil {
		_, err := w.Write(out.Bytes())
		return err
	}
	out.Truncate(bytes.LastIndexByte(out.Bytes(), '}'))
	out.WriteString(",\"windows\":[\n")
	for i, win := range windows {
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

// Read reads a file. Errors are one line.
func Read(r io.Reader) (File, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return File{}, err
	}
	if len(data) > maxBytes {
		return File{}, fault.Errorf("profile", "more than %d bytes", maxBytes)
	}
	var provenance, settings json.RawMessage
	in := head{Provenance: &provenance, Settings: &settings}
	if err := plainjson.Unmarshal(data, &in); err != nil {
		return File{}, fault.Errorf("profile", "%w", err)
	}
	if in.Schema != Schema && in.Schema != SchemaInteractions {
		return File{}, fault.Errorf("profile", "schema %.40q: must be %s or %s, as `mdmgen score --write-profile` writes it", in.Schema, Schema, SchemaInteractions)
	}
	if len(in.Windows) > maxWindows || in.LeftOut < 0 {
		return File{}, fault.Errorf("profile", "%d windows and %d left out: must be in 0..%d", len(in.Windows), in.LeftOut, maxWindows)
	}
	f := File{LeftOut: in.LeftOut, Interactions: in.Interactions}
	if f.Interactions != nil {
		if err := f.Interactions.Check(); err != nil {
			return File{}, fault.Errorf("profile", "%s", fault.Plain(err))
		}
	}
	if f.Interactions == nil || in.Windows != nil {
		f.Profile = &Profile{D: in.D, Exact: in.Exact}
		for _, l := range in.Windows {
			f.Windows = append(f.Windows, l.window())
		}
		if err := f.check(); err != nil {
			return File{}, fault.Errorf("profile", "%w", err)
		}
	}
	// A missing object stays nil.
	if provenance != nil {
		f.Provenance = provenance
	}
	if settings != nil {
		f.Settings = settings
	}
	return f, nil
}
