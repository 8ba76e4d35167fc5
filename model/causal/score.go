package causal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"mdmgen/internal/expsum"
	"mdmgen/internal/fault"
	"mdmgen/model/ort"
)

// Window is a text with some tokens to be scored.
type Window struct {
	IDs []int
	// From is the first token to be scored, given all before it: at least 1, because the network
	// has no row for a first token.
	From int
}

// callCells and callTokens bound a call: the values of its logits, and its positions.
const (
	callCells  = 8 << 20
	callTokens = 2048
)

// LogProbs returns, for each window, log p(id | ids before) of the tokens From…, in nats. Windows
// of similar length share a call; shorter ones are padded after their end, which a causal network
// does not see. The softmax is over all columns, in float64.
func (m *Model) LogProbs(ctx context.Context, windows []Window) ([][]float64, error) {
	out := make([][]float64, len(windows))
	order := make([]int, 0, len(windows))
	for i, w := range windows {
		if err := m.check(w); err != nil {
			return nil, err
		}
		if w.From < len(w.IDs) {
			order = append(order, i)
		}
	}
	// The longest first, so that windows of similar length share a call.
	slices.SortStableFunc(order, func(a, b int) int { return len(windows[b].IDs) - len(windows[a].IDs) })
	for len(order) > 0 {
		length := cmp.Or(m.graph.length, len(windows[order[0]].IDs))
		n := min(cmp.Or(m.graph.rows, max(1, min(callCells/(length*m.graph.columns), callTokens/length))), len(order))
		if m.session.Description().Apart != "" {
			n = 1
		}
		var ids texts
		for _, i := range order[:n] {
			ids = append(ids, windows[i].IDs)
		}
		if err := m.run(ctx, ids, cmp.Or(m.graph.rows, n), length); err != nil {
			return nil, err
		}
		for r, i := range order[:n] {
			w := windows[i]
			for l := w.From; l < len(w.IDs); l++ {
				x, err := logSoftmax(m.out[(r*length+l-1)*m.graph.columns:][:m.graph.columns], w.IDs[l])
				if err != nil {
					return nil, fmt.Errorf("causal %s: output %s: %w", m.ref, m.graph.output, err)
				}
				out[i] = append(out[i], x)
			}
		}
		order = order[n:]
	}
	return out, nil
}

func (m *Model) check(w Window) error {
	if w.From < 1 {
		return fmt.Errorf("causal %s: a window scores from token %d: must be at least 1", m.ref, w.From)
	}
	if n := m.Length(); n > 0 && len(w.IDs) > n {
		return fmt.Errorf("causal %s: a text of %d tokens: the network takes at most %d", m.ref, len(w.IDs), n)
	}
	for i, id := range w.IDs {
		if id < 0 || id >= m.graph.columns {
			return fmt.Errorf("causal %s: id %d at position %d: the network knows 0..%d: is this tokenizer its own", m.ref, id, i, m.graph.columns-1)
		}
	}
	return nil
}

// run computes the rows of texts in a call of rows texts, of which the others are empty, of one length.
func (m *Model) run(ctx context.Context, b texts, rows, length int) error {
	var given []ort.Tensor
	for _, in := range m.graph.inputs {
		shape := in.shape(in.Shape, int64(rows), int64(length))
		given = append(given, in.Tensor(shape, func(i int) int64 { return in.value(b, i/length, i%length) }))
	}
	columns := m.graph.columns
	need := rows * length * columns
	m.out = slices.Grow(m.out[:0], need)[:need]
	out := ort.Tensor{Name: m.graph.output, Shape: []int64{int64(rows), int64(length), int64(columns)}, Float32: m.out}
	err := m.session.Run(ctx, given, []ort.Tensor{out})
	if err == nil || ctx.Err() != nil || errors.Is(err, ort.ErrClosed) {
		return err
	}
	if m.Length() == 0 {
		return fault.Advise("causal %s: a text of %d tokens fails, and no config.json gives the network's maximum: put it next to the file, or use shorter texts (%v): %w", m.ref, length, fault.Term{Name: "length"}, err)
	}
	return fmt.Errorf("causal %s: a text of %d tokens fails: %w", m.ref, length, err)
}

// logSoftmax returns the log-probability of a column.
func logSoftmax(row []float32, column int) (float64, error) {
	greatest, bad := expsum.Greatest(row)
	top := float64(greatest)
	switch {
	case bad:
		return 0, errors.New("a logit is not a number")
	case math.IsInf(top, 0):
		return 0, fmt.Errorf("the greatest logit of a row is %v", top)
	}
	return float64(row[column]) - top - math.Log(expsum.Sum(row, top, 1)), nil
}
