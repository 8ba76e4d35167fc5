package model

import (
	"context"
	"errors"
	"fmt"

	"mdmgen/model/ort"
)

// prober is a network whose session has the outlet of log-probabilities. Rows come
// from a second session.
type prober struct {
	*network
	// open opens the session of rows; rows is nil until it did.
	open func(context.Context) (*ort.Session, error)
	rows *network
}

func (p *prober) Origin() Origin { return origin(p.ref, p.facts, p.session, LogProbability) }

// LogProbs makes one network call; see [LogProber].
func (p *prober) LogProbs(ctx context.Context, rows int, ids, positions, targets []int64, sigma, logMu, logMass []float64) error {
	wanted, err := p.ask(rows, ids, positions, sigma)
	if err != nil {
		return err
	}
	if n := rows * wanted; len(targets) != n || len(logMu) != n || len(logMass) != n {
		panic(fmt.Sprintf("model: %d targets, %d and %d results for %d positions", len(targets), len(logMu), len(logMass), n))
	}
	for _, id := range targets {
		if id < 0 || id >= int64(p.facts.Columns) {
			panic(fmt.Sprintf("model: target %d of a row of %d", id, p.facts.Columns))
		}
	}
	shape := []int64{int64(rows), int64(wanted)}
	p.in = append(p.in, ort.Tensor{Name: "targets", Shape: shape, Int64: targets})
	p.res = append(p.res[:0], ort.Tensor{Name: "log_mu", Shape: shape, Float64: logMu}, ort.Tensor{Name: "log_mass", Shape: shape, Float64: logMass})
	return p.session.Run(ctx, p.in, p.res)
}

// Logits opens the session of rows when it is called first.
func (p *prober) Logits(ctx context.Context, rows int, ids, positions []int64, sigma []float64) ([]float32, error) {
	if p.rows == nil {
		s, err := p.open(ctx)
		if err != nil {
			return nil, err
		}
		p.rows = &network{session: s, facts: p.facts, ref: p.ref}
	}
	return p.rows.Logits(ctx, rows, ids, positions, sigma)
}

// Close closes both sessions, and none is opened any more.
func (p *prober) Close() error {
	p.open = func(context.Context) (*ort.Session, error) { return nil, ort.ErrClosed }
	err := p.network.Close()
	if p.rows != nil {
		err = errors.Join(err, p.rows.Close())
	}
	return err
}
