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
			frames = append(frames, Frame{Sequence: f.Sequence, Call: f.Call - 1, Theta: f.Theta, Positions: []int{}, Tokens: []int{}, LogP: []estimate.Number{}, Masked: before, Seconds: f.Seconds})
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

// Canvas is the state of a sequence after some of its frames.
type Canvas struct {
	Cells []Cell
	// Calls is the last frame's.
	Calls int
	// LogP is the sum over all draws, in nats. Masked is the number of masks.
	LogP   float64
	Masked int
	// Drawn is the number of draws, Free the number of positions that were masked at first or
	// appended.
	Drawn int
	Done  bool
}

// Cell is a position. A masked one has no token.
type Cell struct {
	Masked bool
	Token  int
	Piece  string
	// LogP is the log-probability of the token, Call the call that drew it or masked it again: 0 if
	// the token is given or was never drawn.
	LogP float64
	Call int
}

// Apply applies a frame.
func (c *Canvas) Apply(f Frame) {
	c.Cells = append(c.Cells, slices.Repeat([]Cell{{Masked: true}}, f.Length+f.Grown)...)
	c.Masked += f.Length + f.Grown
	for i, l := range f.Positions {
		cell := Cell{Token: f.Tokens[i], Piece: f.Piece(i), Call: f.Call}
		if i < len(f.LogP) {
			cell.LogP = float64(f.LogP[i])
			c.LogP += cell.LogP
			c.Drawn++
		}
		c.put(l, cell)
	}
	for _, l := range f.Masked {
		c.put(l, Cell{Masked: true, Call: f.Call})
	}
	c.Calls, c.Done = f.Call, f.Done
}

func (c *Canvas) put(l int, cell Cell) {
	if c.Cells[l].Masked {
		c.Masked--
	}
	if cell.Masked {
		c.Masked++
	}
	c.Cells[l] = cell
}

// maxLength is the maximum length of a canvas, which an untrusted file determines.
const maxLength = 1 << 17

// Fits returns an error if a frame cannot follow the frames that were applied.
func (c *Canvas) Fits(f Frame) error {
	length := len(c.Cells) + f.Length + f.Grown
	switch {
	case len(c.Cells) == 0 && f.Call != 0, len(c.Cells) > 0 && f.Call != c.Calls+1 && !(f.Call == c.Calls && f.Length+f.Grown+len(f.Positions) == 0 && len(f.Masked) > 0):
		return fmt.Errorf("sequence %d: call %d after call %d", f.Sequence, f.Call, c.Calls)
	case c.Done:
		return fmt.Errorf("sequence %d: call %d after the last", f.Sequence, f.Call)
	case f.Length < 0 || f.Grown < 0 || length > maxLength:
		return fmt.Errorf("sequence %d: call %d: a canvas of %d positions", f.Sequence, f.Call, length)
	case len(f.Alternatives) != 0 && len(f.Alternatives) != len(f.Positions), len(f.Tokens) != len(f.Positions) || len(f.LogP) != len(f.Positions) && f.Call > 0 || len(f.Pieces) != 0 && len(f.Pieces) != len(f.Positions):
		return fmt.Errorf("sequence %d: call %d: lists of positions, tokens, pieces, log-probabilities and alternatives differ in length", f.Sequence, f.Call)
	}
	for _, l := range slices.Concat(f.Positions, f.Masked) {
		if l < 0 || l >= length {
			return fmt.Errorf("sequence %d: call %d: position %d of a canvas of %d", f.Sequence, f.Call, l, length)
		}
	}
	return nil
}
