package bench

import "mdmgen/samplers"

// KindRepetition is the kind of a [Repetition] among the records of a run.
const KindRepetition = "repetition"

// Repetition is what sampling the sequences of one round cost a cell: sums over them.
type Repetition struct {
	Kind string `json:"kind"`
	// Cell is the cell's ID, Round the round, from 0.
	Cell  string `json:"cell"`
	Round int    `json:"round"`
	// Sequences counts finished sequences; Calls their non-empty blocks, CallsSquared the
	// squares of these; FinishCalls the calls, 0 or 1 a sequence, that filled what no
	// block revealed; Left the masks that stayed.
	Sequences    int `json:"sequences"`
	Calls        int `json:"calls"`
	CallsSquared int `json:"calls_squared"`
	FinishCalls  int `json:"finish_calls"`
	Left         int `json:"left"`
	// Events counts those of a sampler that simulates events, EventsSquared their squares.
	Events        int     `json:"events,omitempty"`
	EventsSquared float64 `json:"events_squared,omitempty"`
	// NetworkCalls counts calls of the network for a batch, Rows the canvases in them,
	// Positions the positions of these canvases. Tokens counts drawn
	// tokens that stayed.
	NetworkCalls int     `json:"network_calls"`
	Rows         int     `json:"rows"`
	Positions    int     `json:"positions"`
	Tokens       int     `json:"tokens"`
	Seconds      Seconds `json:"seconds"`
	// PeakBytes is the greatest resident memory of the process during this repetition, or
	// since it began where PeakOfProcess is set because the system does not let it be reset; 0
	// where it is not known.
	PeakBytes     int64 `json:"peak_bytes,omitempty"`
	PeakOfProcess bool  `json:"peak_of_process,omitempty"`
	// IDs are the sequences, in the order of their streams, where they are kept.
	IDs [][]int `json:"ids,omitempty"`
}

// Seconds are wall-clock times: inside the network, in plans and draws, in the rest, and in
// all.
type Seconds struct {
	Network  float64 `json:"network"`
	Sampling float64 `json:"sampling"`
	Rest     float64 `json:"rest"`
	Total    float64 `json:"total"`
}

// add counts a finished sequence; first is the index of the first one.
func (r *Repetition) add(res samplers.Result, first uint64) {
	r.Sequences++
	r.Calls += res.Calls
	r.CallsSquared += res.Calls * res.Calls
	r.FinishCalls += res.FinishCalls
	r.Left += res.Left
	r.Events += res.Events
	r.EventsSquared += float64(res.Events) * float64(res.Events) // up to 10^9 events: their squares are no int
	if r.IDs != nil {
		r.IDs[res.Index-first] = res.IDs
	}
}

// PeakMemory is the greatest resident memory of the process in bytes, since it began or was last
// reset; 0 where it is not known.
func PeakMemory() int64 { return peak() }
