package rank

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"mdmgen/internal/expsum"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/exact"
)

// Text is a canvas with the tokens of a text on it.
type Text struct{ Canvas, IDs []int }

// Replayed is the probability of a text.
type Replayed struct {
	// LogP is the logarithm, in nats, of the probability that the decoder gives to the text; −Inf
	// if it cannot produce it.
	LogP float64
	// Rows counts the canvases that the network was queried about.
	Rows int
}

// Replay computes the exact probability that a decoder gives to each of texts, by repeating its choices
// on it. For every canvas on which the decoder may meet the text it enumerates the possible next reveals
// with the text's tokens, and sums over what may be drawn at the other positions. [samplers.Replayed] declares
// for which kernels this is possible and how many canvases it takes. A call queries up to batch canvases,
// of all texts together. Probabilities are as precise as the network's logits.
func Replay(ctx context.Context, net samplers.Network, k samplers.Kernel, how draw.Settings, texts []Text, batch int) ([]Replayed, error) {
	r := replay{net: net, texts: texts, out: make([]Replayed, len(texts))}
	most := 0
	for i, t := range texts {
		d, err := meet(net.Spec(), k, how, t)
		if err != nil {
			return nil, err
		}
		r.out[i].LogP = math.Inf(-1)
		r.add(met{text: i, decoder: d})
		most = max(most, len(t.Canvas))
	}
	for masked := most; masked >= 0; masked-- { // a call leaves fewer masks
		if err := r.call(ctx, masked, max(batch, 1)); err != nil {
			return nil, err
		}
	}
	return r.out, nil
}

// meet returns the decoder of a text before its first call. It returns an error if the kernel, in
// whatever layers, cannot be replayed.
func meet(spec samplers.Spec, k samplers.Kernel, how draw.Settings, t Text) (*rankDecoder, error) {
	inner, _ := exact.Inside(k)
	own, ranks := inner.(*kernel)
	known := k.Law()
	if _, replayed := known.(samplers.Replayed); !ranks || !replayed {
		unknown, _ := known.(samplers.Unknown)
		return nil, fmt.Errorf("it cannot be replayed on a text: %s", cmp.Or(unknown.Why, "it has a plan"))
	}
	c, shape, err := exact.Begin(spec, k, how, t.Canvas)
	if err != nil {
		return nil, err
	}
	d, err := own.start(c, draw.NewNumbers(0, 0), c.Masked(nil))
	if err != nil {
		return nil, err
	}
	d.shape = shape
	return d, nil
}

// replay is the state of [Replay].
type replay struct {
	net   samplers.Network
	texts []Text
	// states holds those to continue from, by the number of masks.
	states exact.States[met]
	out    []Replayed
}

// met is a decoder that has produced a part of a text, with the log-probability of that part.
type met struct {
	text    int
	decoder *rankDecoder
	logP    float64
	rows    int // of its last call
}

func (r *replay) add(m met) {
	r.states.Add(len(m.decoder.canvas.Masked(nil)), fmt.Sprint(m.text, m.decoder.key()), m, func(known *met) {
		known.logP = expsum.Add(known.logP, m.logP)
	})
}

// call continues from the states with the given number of masks.
func (r *replay) call(ctx context.Context, masked, batch int) error {
	var going []*met
	for _, m := range r.states.Take(masked) {
		if m.decoder.next() {
			going = append(going, m)
			continue
		}
		if m.decoder.gave(r.texts[m.text].IDs) {
			r.out[m.text].LogP = expsum.Add(r.out[m.text].LogP, m.logP)
		}
	}
	slices.SortStableFunc(going, func(a, b *met) int { return a.decoder.canvas.Len() - b.decoder.canvas.Len() })
	for len(going) > 0 {
		n := 1
		for n < min(batch, len(going)) && going[n].decoder.canvas.Len() == going[0].decoder.canvas.Len() {
			n++
		}
		part := going[:n]
		going = going[n:]
		rows, err := ask(ctx, r.net, part)
		if err != nil {
			return err
		}
		for i, m := range part {
			if err := ctx.Err(); err != nil {
				return err
			}
			r.out[m.text].Rows += m.rows
			ids := r.texts[m.text].IDs
			err := m.decoder.ways(rows[i], ids, func(chosen []candidate, logP float64) error {
				next, e := m.decoder.fork()
				next.reveal(chosen, m.decoder.considered, e)
				r.add(met{text: m.text, decoder: next, logP: m.logP + logP})
				return e.Err()
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// gave reports whether the canvas is the text.
func (d *rankDecoder) gave(text []int) bool {
	return slices.EqualFunc(d.canvas.IDs(), text, func(a int64, b int) bool { return int(a) == b })
}

// ask queries the canvases of the decoders in one call.
func ask(ctx context.Context, net samplers.Network, all []*met) ([]samplers.Rows, error) {
	questions := make([]*exact.Question, len(all))
	for i, m := range all {
		d := m.decoder
		questions[i] = &exact.Question{Canvas: d.canvas, Shape: d.shape.Fork()}
		d.reader.ask(&questions[i].Ask, d.asked, d.theta())
	}
	rows, err := exact.Answers(ctx, net, questions)
	for i, q := range questions {
		all[i].rows = len(q.Rows)
	}
	return rows, err
}
