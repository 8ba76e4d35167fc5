// Package frame has what a call of the network did to a sequence as JSON. Traces, pages and
// streams carry the same frames, and what has read the frames of a sequence so far knows its canvas.
package frame

import (
	"fmt"
	"slices"
	"time"

	"mdmgen/analysis/estimate"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// Frame is one step of a sequence. Call 0 asks nothing: it is the canvas before the first call, of
// Length positions, with the tokens that are given.
type Frame struct {
	Sequence uint64 `json:"sequence"`
	Call     int    `json:"call"`
	Length   int    `json:"length,omitempty"`
	// Theta is the −log α that the network was asked at, "inf" where everything is masked.
	Theta estimate.Number `json:"theta"`
	// Positions got Tokens, drawn with log-probabilities in nats; of call 0, which draws none, LogP is
	// empty. Pieces are the texts of the tokens, empty without a tokenizer.
	Positions []int             `json:"positions"`
	Tokens    []int             `json:"tokens"`
	LogP      []estimate.Number `json:"log_probabilities"`
	Pieces    []string          `json:"pieces,omitempty"`
	// Alternatives are the likeliest tokens at each of Positions, the likeliest first, and Entropy is the mean
	// entropy of the rows that were asked, in nats; both only where a trace keeps them.
	Alternatives [][]Alternative  `json:"alternatives,omitempty"`
	Entropy      *estimate.Number `json:"entropy,omitempty"`
	// Masked are positions that the call left masked: those that held a token before it, and those of
	// Positions that were masked behind their draw.
	Masked []int `json:"masked_again,omitempty"`
	// Grown masks were appended.
	Grown int `json:"grown,omitempty"`
	// Seconds have passed since the run began. Done marks the last frame of the sequence.
	Seconds float64 `json:"seconds"`
	Done    bool    `json:"done,omitempty"`
}

// Alternative is a token that might have been drawn. Piece is its text, empty without a tokenizer.
type Alternative struct {
	Token int             `json:"token"`
	LogP  estimate.Number `json:"log_probability"`
	Piece string          `json:"piece,omitempty"`
}

// Piece is the text of the i-th token, its id where there is no tokenizer.
func (f *Frame) Piece(i int) string {
	if i < len(f.Pieces) {
		return f.Pieces[i]
	}
	return fmt.Sprintf(" %d", f.Tokens[i])
}

// Maker makes frames of steps. It belongs to one goroutine.
type Maker struct {
	// Mask is the mask's id. Piece is the text of a token, nil for none.
	Mask  int
	Piece func(token int) string
	// Begin is when the run began.
	Begin time.Time

	under map[uint64]*sequence
	// last is when the last frame was made, which is when a sequence began that joined behind it.
	last float64
}

// sequence is one that is under way: 1 for positions that hold a token, 0 for masked ones.
type sequence struct {
	calls int
	holds []int
}

// Step returns the frames of a step, whose slices are their own: of the first step of a sequence
// also that of call 0. canvas is what the sequence began with.
func (m *Maker) Step(s samplers.Step, canvas []int) (frames []Frame) {
	if m.under == nil {
		m.under = make(map[uint64]*sequence)
	}
	now := m.under[s.Index]
	if now == nil {
		now = &sequence{holds: make([]int, len(canvas))}
		m.under[s.Index] = now
		frames = append(frames, m.given(s.Index, now, canvas))
	}
	if s.Rows > 0 {
		now.calls++
		f := Frame{
			Sequence: s.Index, Call: now.calls, Theta: estimate.Number(s.Theta), Grown: s.Grown, Seconds: m.seconds(),
			Positions: slices.Concat([]int{}, s.Positions), Tokens: slices.Concat([]int{}, s.Tokens), LogP: make([]estimate.Number, len(s.LogP)), Pieces: m.pieces(s.Tokens),
		}
		for i, x := range s.LogP {
			f.LogP[i] = estimate.Number(x)
		}
		if s.Top != nil {
			f.Alternatives, f.Entropy = m.alternatives(s.Top), new(estimate.Number(s.Entropy))
		}
		now.holds = append(now.holds, make([]int, s.Grown)...)
		f.Masked = now.edit(s, m.Mask)
		frames = append(frames, f)
	}
	if s.Result != nil {
		frames[len(frames)-1].Done = true
		delete(m.under, s.Index)
	}
	return frames
}

// given is call 0.
func (m *Maker) given(index uint64, now *sequence, canvas []int) Frame {
	f := Frame{Sequence: index, Length: len(canvas), Positions: []int{}, Tokens: []int{}, LogP: []estimate.Number{}, Seconds: m.last}
	for l, id := range canvas {
		if id != m.Mask {
			now.holds[l] = 1
			f.Positions, f.Tokens = append(f.Positions, l), append(f.Tokens, id)
		}
	}
	f.Pieces = m.pieces(f.Tokens)
	return f
}

// edit follows a step, and returns the positions that it left masked. A decoder may mask a position
// before it draws there, behind that, or both; by turns, since a mask is not masked: so it ends with a token
// where it held or drew more than it masked.
func (q *sequence) edit(s samplers.Step, mask int) (masked []int) {
	for i, l := range s.Positions {
		if q.holds[l]++; s.Tokens[i] == mask {
			q.holds[l] = 0
		}
	}
	for _, l := range s.Masked {
		q.holds[l]--
	}
	changed := slices.Concat(s.Positions, s.Masked)
	slices.Sort(changed)
	for _, l := range slices.Compact(changed) {
		if q.holds[l] = min(max(q.holds[l], 0), 1); q.holds[l] == 0 {
			masked = append(masked, l)
		}
	}
	return masked
}

func (m *Maker) seconds() float64 {
	m.last = time.Since(m.Begin).Seconds()
	return m.last
}

func (m *Maker) alternatives(top [][]draw.Scored) [][]Alternative {
	out := make([][]Alternative, len(top))
	for i, all := range top {
		out[i] = []Alternative{}
		for _, x := range all {
			a := Alternative{Token: x.Token, LogP: estimate.Number(x.LogP)}
			if m.Piece != nil {
				a.Piece = m.Piece(x.Token)
			}
			out[i] = append(out[i], a)
		}
	}
	return out
}

func (m *Maker) pieces(tokens []int) (texts []string) {
	if m.Piece == nil {
		return nil
	}
	for _, id := range tokens {
		texts = append(texts, m.Piece(id))
	}
	return texts
}
