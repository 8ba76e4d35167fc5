package bench

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"mdmgen/analysis/bench"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/quality"
	"mdmgen/cmd/mdmgen/internal/canvas"
	"mdmgen/cmd/mdmgen/internal/windows"
	"mdmgen/internal/exit"
	"mdmgen/internal/plainfile"
)

// mostWindows is the number of windows that --context takes, at most.
const mostWindows = 8

// targets are the windows of the sampling error, and sets their length.
func (r *benching) targets(set *bench.QualitySettings) ([]likelihood.Target, error) {
	f := r.facts
	d := set.ErrorLength
	switch {
	case f.FixedLength && d == 0:
		d = min(f.Length, likelihood.MaxFree)
	case d == 0:
		d = min(defaultErrorLength, f.Length)
	case d > f.Length:
		return nil, exit.Usagef("--error-length %d: the model takes canvases of at most %d positions", d, f.Length)
	}
	set.ErrorLength = d
	if r.context == "" {
		if f.FixedLength && d != f.Length {
			return nil, exit.Usagef("--error-length %d: the model takes canvases of exactly %d positions", d, f.Length)
		}
		if f.Shift {
			return nil, exit.Usagef("--quality error: the network predicts position l from row l−1, and has no row for the first: give --context")
		}
		return []likelihood.Target{likelihood.Whole(make([]int, d))}, nil
	}
	path := r.context
	if r.words == nil {
		return nil, exit.Missingf("--context needs a tokenizer: give one with --tokenizer")
	}
	ids, err := r.textIDs("--context", path)
	if err != nil {
		return nil, err
	}
	n := len(ids) / f.Length
	if n == 0 {
		return nil, fmt.Errorf("--context %s: %d tokens: must have at least %d, the length of a canvas", path, len(ids), f.Length)
	}
	out := cutWindows(ids, f.Length, d, min(n, mostWindows))
	raw, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	set.Context = fmt.Sprintf("sha256:%x", sha256.Sum256(raw))
	return out, nil
}

// readReference reads the text of --evaluator-reference, which must have twice as many pieces as
// a cell has samples, and some of both.
func (r *benching) readReference(set *bench.QualitySettings) (err error) {
	if r.evaluatorReference == "" {
		return nil
	}
	if r.look.reference, err = r.textIDs("--evaluator-reference", r.evaluatorReference); err != nil {
		return err
	}
	for i := range r.cells {
		n, pieces := r.settings.Sequences*r.settings.Repetitions, len(r.referenceTexts(len(r.cells[i].Canvas)))
		if n < quality.FewTexts || pieces < 2*quality.FewTexts {
			return exit.Usagef("--evaluator-reference: %d samples a cell (-n × -r), and %d pieces of %s as long as they: must be at least %d and %d", n, pieces, r.evaluatorReference, quality.FewTexts, 2*quality.FewTexts)
		}
	}
	raw, err := json.Marshal(r.look.reference)
	set.Reference = fmt.Sprintf("sha256:%x", sha256.Sum256(raw))
	return err
}

// referenceTexts are pieces of the reference as long as a canvas, evenly spread: at most twice as
// many as a cell has samples. It is nil where there is no reference.
func (r *benching) referenceTexts(length int) (out [][]int) {
	n := min(len(r.look.reference)/length, 2*r.settings.Sequences*r.settings.Repetitions)
	for _, w := range cutWindows(r.look.reference, length, 1, n) {
		out = append(out, w.IDs)
	}
	return out
}

// textIDs reads the text that a flag names. Windows are spread over all of it, so its ids
// are kept, in four bytes each.
func (r *benching) textIDs(flag, path string) ([]int32, error) {
	f, err := plainfile.OpenNamed(r.ctx, path)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", flag, path, err)
	}
	defer f.Close()
	l := canvas.Layout{Facts: r.facts}
	var out []int32
	for ids, err := range windows.TextPieces(r.words, f, flag+" "+path) {
		if err == nil {
			err = r.ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			if err := l.Clean(id); err != nil {
				return nil, fmt.Errorf("%s %s: the tokenizer does not fit the model: %w", flag, path, err)
			}
			out = append(out, int32(id))
		}
	}
	return out, nil
}

// cutWindows takes n canvases, evenly spread over a text, whose middle d positions are
// free.
func cutWindows(ids []int32, length, d, n int) []likelihood.Target {
	var out []likelihood.Target
	for i := range n {
		from := i * (len(ids) / length / n) * length
		var t likelihood.Target
		for _, id := range ids[from : from+length] {
			t.IDs = append(t.IDs, int(id))
		}
		for l := range d {
			t.Free = append(t.Free, (length-d)/2+l)
		}
		// A network that predicts a position from the one before it has no row for the first.
		if t.Free[0] == 0 && length > d {
			for i := range t.Free {
				t.Free[i]++
			}
		}
		out = append(out, t)
	}
	return out
}
