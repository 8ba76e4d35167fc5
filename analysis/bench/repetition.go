package bench

import "mdmgen/samplers"

// KindRepetition is the kind of a [Repetition] among the records of a run.
const KindRepetition = "repetition"

// Repetition holds the cost of sampling a cell's sequences of one round, summed over them.
type Repetition struct {
	Kind string `json:"kind"`
	// Cell is the cell's ID, Round the round, from 0.
	Cell  string `json:"cell"`
	Round int    `json:"round"`
	// Sequences counts finished sequences, Calls their non-empty blocks, CallsSquared the squares
	// of these numbers, FinishCalls the calls, 0 or 1 per sequence, that filled the positions that
	// no block revealed, and Left the remaining masks.
	Sequences    int `json:"sequences"`
	Calls        int `json:"calls"`
	CallsSquared int `json:"calls_squared"`
	FinishCalls  int `json:"finish_calls"`
	Left         int `json:"left"`
	// NetworkCalls counts calls of the network, each for a batch; Rows the canvases in them;
	// Positions the positions of these canvases; Tokens the tokens drawn and kept.
	NetworkCalls int     `json:"network_calls"`
	Rows         int     `json:"rows"`
	Positions    int     `json:"positions"`
	Tokens       int     `json:"tokens"`
	Seconds      Seconds `json:"seconds"`
	// PeakBytes is the greatest resident memory of the process during this repetition, or 0 if it
	// is unknown. If PeakOfProcess is set, it is the greatest since the process began, because the
	// system does not allow resetting it.
	PeakBytes     int64 `json:"peak_bytes,omitempty"`
	PeakOfProcess bool  `json:"peak_of_process,omitempty"`
	// IDs are the sequences in the order of their streams, if they are kept.
	IDs [][]int `json:"ids,omitempty"`
}

// Seconds holds wall-clock times: in the network, in plans and draws, in the rest, and in total.
type Seconds struct {
	Network  float64 `json:"network"`
	Sampling float64 `json:"sampling"`
	Rest     float64 `json:"rest"`
	Total    float64 `json:"total"`
}

// add adds a finished sequence; first is the index of the first sequence.
func (r *Repetition) add(res samplers.Result, first uint64) {
	r.Sequences++
	r.Calls += res.Calls
	r.CallsSquared += res.Calls * res.Calls
	r.FinishCalls += res.FinishCalls
	r.Left += res.Left
	if r.IDs != nil {
		r.IDs[res.Index-first] = res.IDs
	}
}
