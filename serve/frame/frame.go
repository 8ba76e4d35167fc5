// Package frame describes in JSON what a call of the network did to a sequence. Traces, pages and
// streams have the same frames. The frames of a sequence so far determine its canvas.
package frame

import (
	"fmt"
	"slices"
	"time"

	"mdmgen/analysis/estimate"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// Frame is one step of a sequence. Call 0 is the canvas before the first network call: Length
// positions with the given tokens. Tokens that a step masks before it draws others at their positions
// have a frame of their own, of the call before.
type Frame struct {
	Sequence uint64 `json:"sequence"`
	Call     int    `json:"call"`
	Length   int    `json:"length,omitempty"`
	// Theta is the −log α at which the network was queried, "inf" if everything is masked.
	Theta estimate.Number `json:"theta"`
	// Positions received Tokens, drawn with the log-probabilities LogP in nats; LogP is empty for
	// call 0, which draws none. Pieces are the texts of the tokens, empty without a tokenizer.
	Positions []int             `json:"positions"`
	Tokens    []int             `json:"tokens"`
	LogP      []estimate.Number `json:"log_probabilities"`
	Pieces    []string          `json:"pieces,omitempty"`
	// Alternatives lists the likeliest tokens at each of Positions, the likeliest first. Entropy is
	// the mean entropy in nats of the queried rows. Only traces that keep alternatives have them.
	Alternatives [][]Alternative  `json:"alternatives,omitempty"`
	Entropy      *estimate.Number `json:"entropy,omitempty"`
	// Masked lists the positions that the call left masked: positions that held a token before, and
	// positions in Positions that were masked after their draw.
	Masked []int `json:"masked_again,omitempty"`
	// Grown is the number of appended masks.
	Grown int `json:"grown,omitempty"`
	// Seconds is the time since the run began. Done marks the last frame of the sequence.
	Seconds float64 `json:"seconds"`
	Done    bool    `json:"done,omitempty"`
}

// Alternative is a token that could have been drawn. Piece is its text, empty without a tokenizer.
type Alternative struct {
	Token int             `json:"token"`
	LogP  estimate.Number `json:"log_probability"`
	Piece string          `json:"piece,omitempty"`
}

// Piece returns the text of the i-th token, or its id without a tokenizer.
func (f *Frame) Piece(i int) string {
	if i < len(f.Pieces) {
		return f.Pieces[i]
	}
	return fmt.Sprintf(" %d", f.Tokens[i])
}

// Maker makes frames from steps. It belongs to one goroutine.
type Maker struct {
	// Mask is the id of the mask. Piece returns the text of a token; it may be nil.
	Mask  int
	Piece func(token int) string
	// Begin is when the run began.
	Begin time.Time

	under map[uint64]*sequence
	// last is the time of the last frame, the beginning of sequences that join after it.
	last float64
}

// sequence is an unfinished sequence. holds is 1 for a position that holds a token, 0 for a masked
// one.
type sequence struct {
	calls int
	holds []int
}

// Step returns the frames of a step, which share no slices with it. For the first step of a
// sequence that includes the frame of call 0. canvas is the initial canvas of the sequence.
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
		var before []int
		if before, f.Masked = now.edit(s, m.Mask); len(before) > 0 {
			first := f
			first.Call, first.Grown, first.Positions, first.Tokens, first.LogP, first.Pieces = now.calls-1, 0, []int{}, []int{}, []estimate.Number{}, nil
			first.Alternatives, first.Entropy, first.Masked = nil, nil, before
			frames = append(frames, first)
		}
		frames = append(frames, f)
	}
	if s.Result != nil {
		frames[len(frames)-1].Done = true
		delete(m.under, s.Index)
	}
	return frames
}

// given returns the frame of call 0.
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

// edit applies a step and returns the positions that it left masked, and those whose token it masked
// before it drew another. A decoder may mask a position before it draws there, after it, or both. It
// does so alternately, since it does not mask a mask: a position ends with a token if tokens were held
// or drawn there more often than masked.
func (q *sequence) edit(s samplers.Step, mask int) (before, masked []int) {
	for _, l := range s.Masked {
		if q.holds[l] == 1 && slices.Contains(s.Positions, l) {
			before = append(before, l)
		}
	}
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
	return slices.DeleteFunc(before, func(l int) bool { return q.holds[l] == 0 }), masked
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
