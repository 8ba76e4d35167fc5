package replay

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"mdmgen/analysis/estimate"
	"mdmgen/cmd/mdmgen/internal/trace"
	"mdmgen/internal/printable"
	"mdmgen/serve/frame"
	"mdmgen/serve/page"
)

// run is a trace as a page shows it. The script uses its name and frames.
type run struct {
	page.Run
	Frames []frame.Frame `json:"frames"`
	canvas *frame.Canvas // the first sample's
}

// newRun returns the shown part of a trace, with unprintable characters replaced and numbers
// rounded.
func newRun(t *trace.Trace) *run {
	name := filepath.Base(t.Path)
	r := &run{canvas: t.Canvases[t.Frames[0].Sequence]}
	r.Name, r.Command = printable.String(strings.TrimSuffix(name, filepath.Ext(name))), printable.String(t.Header.Command)
	facts := []string{fmt.Sprintf("%d calls", r.canvas.Calls)}
	var set struct {
		Sampler    string `json:"sampler"`
		ChangesLaw bool   `json:"changes_law"`
	}
	if json.Unmarshal(t.Header.Settings, &set) == nil && set.Sampler != "" {
		facts[0] += " of " + set.Sampler
	}
	if set.ChangesLaw {
		facts = append(facts, "tokens are not drawn from the network's own rows (changes_law)")
	}
	if m := t.Header.Provenance.Model; m != nil {
		facts = append(facts, "model "+m.Reference, m.Runtime+" on "+m.Provider)
	}
	if t.End == nil || t.End.Interrupted {
		facts = append(facts, "the run did not end")
	}
	r.Facts = printable.String(strings.Join(facts, " · "))
	for _, f := range t.Frames {
		shown := frame.Frame{Sequence: f.Sequence, Call: f.Call, Length: f.Length, Grown: f.Grown, Masked: f.Masked, Positions: f.Positions, Seconds: math.Round(1e4*f.Seconds) / 1e4}
		for i := range f.Tokens {
			shown.Pieces = append(shown.Pieces, printable.Text(f.Piece(i)))
		}
		for _, x := range f.LogP {
			shown.LogP = append(shown.LogP, rounded(x))
		}
		if f.Entropy != nil {
			shown.Alternatives, shown.Entropy = alternatives(f.Alternatives), new(rounded(*f.Entropy))
		}
		r.Frames = append(r.Frames, shown)
	}
	for _, c := range r.canvas.Cells {
		r.Text += printable.Text(pieceOf(c))
	}
	return r
}

// rounded rounds a number of nats for display.
func rounded(x estimate.Number) estimate.Number {
	return estimate.Number(math.Round(1e3*float64(x)) / 1e3)
}

// alternatives returns the lists with the shown fields of each token.
func alternatives(lists [][]frame.Alternative) (out [][]frame.Alternative) {
	for _, list := range lists {
		var shown []frame.Alternative
		for _, a := range list {
			piece := a.Piece
			if piece == "" {
				piece = fmt.Sprintf(" %d", a.Token)
			}
			shown = append(shown, frame.Alternative{LogP: rounded(a.LogP), Piece: printable.Text(piece)})
		}
		out = append(out, shown)
	}
	return out
}

// pieceOf returns the text of a position, a low line if it is masked.
func pieceOf(c frame.Cell) string {
	if c.Masked {
		return "▁"
	}
	return c.Piece
}

// webpage writes runs as a self-contained page, with their frames as compressed JSON in base64.
func webpage(w io.Writer, runs []*run) error {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		err = errors.Join(json.NewEncoder(z).Encode(runs), z.Close())
	}
	if err != nil {
		return err
	}
	var shown []page.Run
	for _, r := range runs {
		shown = append(shown, r.Run)
	}
	return page.Replay(w, shown, base64.StdEncoding.EncodeToString(b.Bytes()))
}
