package samplers

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"mdmgen/internal/fault"
	"mdmgen/samplers/draw"
)

// MostReplayed is the greatest number of positions of which all sets are gone through.
const MostReplayed = 16

// Text is a canvas with what its masks become.
type Text struct{ Canvas, IDs []int }

// Replayed is what a replay tells of a text.
type Replayed struct {
	// LogP is the logarithm, in nats, of the probability that the decoder gives the text; −Inf
	// where it cannot.
	LogP float64
	// Rows counts the canvases that the network was asked about.
	Rows int
}

// Replay works out how probable a decoder makes texts, exactly, by making its choices again on
// each of them: on every canvas on which the decoder may meet the text, what it may reveal next,
// with the probability that this is revealed with the text's tokens. What it would have drawn at
// other positions is summed over. [Law.Replay] says for which samplers this is done and how many
// canvases it takes; they are asked about up to batch at once, texts together. Probabilities are
// as exact as the network's logits.
func (s *Sampler) Replay(ctx context.Context, net Network, texts []Text, batch int) ([]Replayed, error) {
	law, err := s.replayed()
	if err != nil {
		return nil, err
	}
	r := replay{net: net, texts: texts, states: make(map[int]map[string]*met), out: make([]Replayed, len(texts))}
	spec, most := net.Spec(), 0
	for i, t := range texts {
		d, err := s.meet(law, spec, t)
		if err != nil {
			return nil, fault.Errorf("samplers", "%s: %w", s, err)
		}
		r.out[i].LogP = math.Inf(-1)
		r.add(met{text: i, decoder: d})
		most = max(most, len(t.Canvas))
	}
	for masked := most; masked >= 0; masked-- { // a call leaves fewer
		if err := r.call(ctx, masked, max(batch, 1)); err != nil {
			return nil, fault.Errorf("samplers", "%s: %w", s, err)
		}
	}
	return r.out, nil
}

// replayed is the law of a sampler that is replayed, whatever shapes its rows.
func (s *Sampler) replayed() (*ranking, error) {
	law, ok := s.unshaped().(*ranking)
	if declared := s.law.declare(); !ok || declared.Replay == NoReplay {
		return nil, fault.Errorf("samplers", "%s is not replayed on a text: %s", s, cmp.Or(declared.Why, "it has a plan"))
	}
	return law, nil
}

// meet is the decoder of a text, before its first call.
func (s *Sampler) meet(law *ranking, spec Spec, t Text) (*ranked, error) {
	rows, err := draw.NewCategorical(spec.Vocabulary, s.settings.Draw)
	if err != nil {
		return nil, err
	}
	c := newCanvas(&spec, rows, t.Canvas)
	started, err := law.start(c, draw.NewDraws(0, 0), c.Masked(nil), false)
	if err != nil {
		return nil, err
	}
	d := started.(*ranked)
	if around, ok := s.law.(shaping); ok {
		d.shape, err = around.on(c, c.Masked(nil))
	}
	return d, err
}

// replay is what is known so far.
type replay struct {
	net   Network
	texts []Text
	// states are those that are to be gone on from, by the number of masks.
	states map[int]map[string]*met
	out    []Replayed
}

// met is a decoder that has met a part of a text, with the log-probability of that.
type met struct {
	text    int
	decoder *ranked
	logP    float64
	rows    int // that its last call asked
}

func (r *replay) add(m met) {
	masked := len(m.decoder.canvas.Masked(nil))
	if r.states[masked] == nil {
		r.states[masked] = make(map[string]*met)
	}
	key := fmt.Sprint(m.text, m.decoder.key())
	if x := r.states[masked][key]; x != nil {
		x.logP = logAdd(x.logP, m.logP)
		return
	}
	r.states[masked][key] = &m
}

// logAdd is log(e^a + e^b).
func logAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(a, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

// call goes on from the states with so many masks.
func (r *replay) call(ctx context.Context, masked, batch int) error {
	states := r.states[masked]
	delete(r.states, masked)
	var going []*met
	for _, key := range slices.Sorted(maps.Keys(states)) { // sums are of one order
		m := states[key]
		if m.decoder.next() {
			going = append(going, m)
			continue
		}
		if m.decoder.gave(r.texts[m.text].IDs) {
			r.out[m.text].LogP = logAdd(r.out[m.text].LogP, m.logP)
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
				return e.err
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// gave says that the canvas is a text.
func (d *ranked) gave(text []int) bool {
	return slices.EqualFunc(d.canvas.ids, text, func(a int64, b int) bool { return int(a) == b })
}

// ask asks about the canvases of decoders in one call.
func ask(ctx context.Context, net Network, all []*met) ([]Rows, error) {
	questions := make([]*question, len(all))
	for i, m := range all {
		d := m.decoder
		questions[i] = &question{canvas: d.canvas, shape: d.shape.fork()}
		d.reader.ask(&questions[i].Ask, d.asked, d.theta())
	}
	rows, err := answers(ctx, net, questions)
	for i, q := range questions {
		all[i].rows = len(q.Rows)
	}
	return rows, err
}
