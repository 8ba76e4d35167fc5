package bound

import (
	"math"

	"mdmgen/internal/fault"
)

// Basis is what the report of a [Study] needs besides its chunks. It is stored with them, so that a
// report needs neither the network nor the text.
type Basis struct {
	// Windows is the number of windows of the text, PerChunk that in every chunk but the last.
	Windows  int `json:"windows"`
	PerChunk int `json:"per_chunk"`
	// Clustered means that windows of the same document depend on each other.
	Clustered bool `json:"clustered,omitempty"`
	// Plans and Confidence are those of [Config], Baseline is the name of its baseline.
	Plans           int     `json:"plans,omitempty"`
	Confidence      float64 `json:"confidence,omitempty"`
	Baseline        string  `json:"baseline,omitempty"`
	TimeConditioned bool    `json:"time_conditioned,omitempty"`
	// Canvases is the number of canvases of certificates, one of each window or one for all; Runs is
	// the number of first-hitting runs on each.
	Canvases int         `json:"canvases"`
	Runs     int         `json:"runs"`
	Cases    []basicCase `json:"cases,omitempty"`
}

// basicCase is what the report says of a case apart from what was measured.
type basicCase struct {
	Case
	// Calls is the expected number of network calls by the number of free positions of a window, null
	// if it is not known. Apart is log p* of the collision bound, null if there is none. Both are for
	// exact values.
	Calls map[int]number `json:"calls,omitempty"`
	Apart map[int]number `json:"apart,omitempty"`
	// Most is the collision bound on TV, 1 if there is none; null for a case without a certificate.
	Most number `json:"most"`
}

// maxStored bounds the numbers of a stored basis, so that their products fit.
const maxStored = 1 << 28

// A Tally joins the chunks of a study, in their order, wherever they were computed, and reports on
// them. It belongs to one goroutine.
type Tally struct {
	basis Basis
	// at lists the cases that have a certificate.
	at []int
	// taken joins the chunks taken so far.
	taken  Chunk
	chunks int
}

// NewTally returns a tally of a study with the given basis.
func NewTally(b Basis) (*Tally, error) {
	t := &Tally{basis: b}
	for _, n := range []int{b.Windows, b.PerChunk, b.Canvases, b.Runs} {
		if n < 1 || n > maxStored {
			return nil, fault.Errorf("bound", "the stored basis of a report: %d: must be in 1..%d", n, maxStored)
		}
	}
	if b.Canvases != 1 && b.Canvases != b.Windows {
		return nil, fault.Errorf("bound", "the stored basis of a report: %d canvases for %d windows", b.Canvases, b.Windows)
	}
	for i, c := range b.Cases {
		if !math.IsNaN(float64(c.Most)) {
			t.at = append(t.at, i)
		}
	}
	t.taken.Certificates = make([][]number, len(t.at))
	return t, nil
}

// Basis returns the basis of the report.
func (t *Tally) Basis() Basis { return t.basis }

// Chunks returns the number of chunks.
func (t *Tally) Chunks() int { return (t.basis.Windows + t.basis.PerChunk - 1) / t.basis.PerChunk }

// Windows returns the number of windows in every chunk but the last.
func (t *Tally) Windows() int { return t.basis.PerChunk }

// runsOf returns a chunk's share from..to of the certificates' runs.
func (t *Tally) runsOf(chunk int) (from, to int) {
	n := t.basis.Runs * t.basis.Canvases
	return chunk * n / t.Chunks(), (chunk + 1) * n / t.Chunks()
}

// windowsOf returns the windows from..to of a chunk.
func (t *Tally) windowsOf(chunk int) (from, to int) {
	return chunk * t.basis.PerChunk, min((chunk+1)*t.basis.PerChunk, t.basis.Windows)
}

// Size returns the number of windows in a chunk.
func (t *Tally) Size(chunk int) int {
	from, to := t.windowsOf(chunk)
	return to - from
}

// Take adds the next chunk, in order. It returns an error if the chunk does not belong to the
// study.
func (t *Tally) Take(c Chunk) error {
	windows := t.Size(t.chunks)
	begin, end := t.runsOf(t.chunks)
	cases := 0
	if t.basis.Plans == 0 {
		cases = len(t.basis.Cases)
	}
	ok := t.chunks < t.Chunks() && len(c.Windows) == windows && len(c.Certificates) == len(t.at) && (t.basis.Baseline == "" || len(c.Baseline) == windows)
	for _, w := range c.Windows {
		ok = ok && len(w.Cases) == cases
	}
	for _, terms := range c.Certificates {
		ok = ok && len(terms) == end-begin
	}
	if !ok {
		return fault.Errorf("bound", "chunk %d: its windows or runs differ from this study's", t.chunks)
	}
	all := &t.taken
	all.Windows, all.Baseline = append(all.Windows, c.Windows...), append(all.Baseline, c.Baseline...)
	for k, terms := range c.Certificates {
		all.Certificates[k] = append(all.Certificates[k], terms...)
	}
	t.chunks++
	return nil
}

// cluster returns the documents of the windows taken, nil if all are independent.
func (t *Tally) cluster() []int {
	if !t.basis.Clustered {
		return nil
	}
	return each(t.taken.Windows, func(w window) int { return w.Document })
}

// certificates returns the terms of the certificates in the chunks taken.
func (t *Tally) certificates() certified {
	c := certified{at: t.at}
	for k, terms := range t.taken.Certificates {
		c.terms, c.most = append(c.terms, floats(terms)), append(c.most, float64(t.basis.Cases[t.at[k]].Most))
	}
	if documents := t.cluster(); t.basis.Canvases > 1 && len(c.terms) > 0 {
		for i := range c.terms[0] {
			window := i / t.basis.Runs
			if documents != nil {
				window = documents[window]
			}
			c.cluster = append(c.cluster, window)
		}
	}
	return c
}
