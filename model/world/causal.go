package world

import (
	"encoding/json"
	"math"
	"slices"

	"mdmgen/internal/expsum"
	"mdmgen/samplers"
)

// causal reads, for each position from 1 on, a row for each text before it.
func (p *parser) causal(w *World) {
	var positions [][]json.RawMessage
	p.Need("causal", &positions)
	if len(positions) != w.d-1 {
		p.Fail("field \"causal\": must have %d positions, from 1 on", w.d-1)
		return
	}
	for i, rows := range positions {
		if texts := power(w.v, i+1); len(rows) != texts {
			p.Fail("field \"causal\", position %d: must have %d rows, one for each text before it", i+1, texts)
			return
		}
		logs := make([]float64, len(rows)*w.v)
		for text, raw := range rows {
			if err := readRow(raw, logs[text*w.v:(text+1)*w.v]); err != nil {
				p.Fail("field \"causal\", position %d, text %d: %w", i+1, text, err)
			}
		}
		for a, q := range logs {
			logs[a] = expsum.Log(q, 0)
		}
		w.causal = append(w.causal, logs)
	}
}

// kept is what a world keeps: nothing, since its tables have all rows.
type kept struct{}

func (k kept) Clone() samplers.Kept       { return k }
func (k kept) Cut(int, int) samplers.Kept { return k }
func (k kept) Paste(int, samplers.Kept)   {}

// Keep implements [samplers.Keeper], so that samplers that always keep rows need not know of worlds.
func (w *World) Keep(int) samplers.Kept { return kept{} }

// KeptBytes returns 1, or 0 for a world without causal rows.
func (w *World) KeptBytes(int) int64 { return min(int64(len(w.causal)), 1) }

// after returns the logarithm of the causal row that follows a text, all −Inf if it has d tokens, or MASK.
func (w *World) after(text []int) []float64 {
	if len(text) == w.d || slices.Contains(text, w.v) {
		return slices.Repeat([]float64{math.Inf(-1)}, w.v)
	}
	at := 0
	for _, id := range text {
		at = at*w.v + id
	}
	return w.causal[len(text)-1][at*w.v : (at+1)*w.v]
}
