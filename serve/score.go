package serve

import (
	"fmt"
	"net/http"
	"slices"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
)

// ScoreRequest asks how probable a text is, behind a context that is given; each is a text or a list of ids.
type ScoreRequest struct {
	Model   string `json:"model,omitempty"`
	Text    given  `json:"text" jsonschema_description:"a text or a list of ids"`
	Context given  `json:"context,omitzero" jsonschema_description:"a text or a list of ids"`
	// Exact has the values worked out, from 2^n rows for n tokens; null does that for a few.
	Exact *bool `json:"exact,omitempty"`
	// Draws is the number of draws of an estimate, which Seed determines.
	Draws int    `json:"draws,omitempty"`
	Seed  uint64 `json:"seed,omitempty"`
}

// ScoreAnswer is the NELBO of the tokens of a text, in nats, an upper bound on −log P of First-Hitting: an
// estimate with its standard error, or, where Exact is set, its value beside −log P of First-Hitting and of one
// token after the other. Rows is the number of canvases that the network was asked about.
type ScoreAnswer struct {
	Model             string           `json:"model"`
	Tokens            int              `json:"tokens"`
	Exact             bool             `json:"exact"`
	NELBO             estimate.Number  `json:"nelbo"`
	SE                estimate.Number  `json:"se"`
	FHS               *estimate.Number `json:"fhs"`
	LeftToRight       *estimate.Number `json:"left_to_right"`
	Rows              int              `json:"rows"`
	SystemFingerprint string           `json:"system_fingerprint"`
}

// How many tokens are scored exactly on demand and without, and how many draws an estimate has at most.
const (
	mostExact = 12
	fewExact  = 6
	maxDraws  = 1024
)

func (s *Server) score(x *exchange, q *ScoreRequest) (*ScoreAnswer, error) {
	before, err := s.encode("context", q.Context)
	if err != nil {
		return nil, err
	}
	ids, err := s.encode("text", q.Text)
	if err != nil {
		return nil, err
	}
	target := likelihood.Whole(slices.Concat(before, ids))
	target.Free = target.Free[len(before):]
	timed := s.Model.Facts().TimeConditioned
	exact := len(ids) <= fewExact && !timed
	if q.Exact != nil {
		exact = *q.Exact
	}
	if exact && (len(ids) > mostExact || timed) {
		return nil, refuse(http.StatusBadRequest, "exact", fmt.Sprintf("exact values are for at most %d tokens, and networks without time: leave it out for an estimate", mostExact))
	}
	if q.Draws < 0 || q.Draws > maxDraws {
		return nil, refuse(http.StatusBadRequest, "draws", fmt.Sprintf("draws is %d: must be in 1..%d", q.Draws, maxDraws))
	}
	e, free, err := x.evaluator(likelihood.Options{})
	if err != nil {
		return nil, err
	}
	defer free()
	if err := e.Check(target); err != nil {
		return nil, invalid("text", err)
	}
	out := &ScoreAnswer{Model: s.Name, Tokens: len(ids), Exact: exact, SystemFingerprint: s.Fingerprint}
	if !exact {
		results, err := e.Estimate(x.r.Context(), []likelihood.Target{target}, 0, likelihood.Config{Seed: q.Seed, Draws: q.Draws})
		if err != nil {
			return nil, err
		}
		nats := results[0].Nats
		out.NELBO, out.SE, out.Rows = estimate.Number(nats.Mean), estimate.Number(nats.SE), results[0].Rows
		return out, nil
	}
	table, err := e.Table(x.r.Context(), target, false)
	if err != nil {
		return nil, err
	}
	out.NELBO, out.Rows = estimate.Number(table.NELBO()), table.Rows()
	out.FHS, out.LeftToRight = new(estimate.Number(table.FHS())), new(estimate.Number(table.LeftToRight()))
	return out, nil
}
