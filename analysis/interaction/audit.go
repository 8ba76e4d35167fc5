package interaction

import (
	"context"
	"math"
	"slices"

	"mdmgen/analysis/estimate"
	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
	"mdmgen/samplers/schedule"
)

// Audited is the loss of a planned sampler against its own order one position at a time, in nats
// per token: Σ_j KL(μ^j(·|x) ‖ μ^j(·|x, earlier of the group)) over the groups of its samples,
// whose mean bounds KL(P̃ ‖ P), and the same for TV.
type Audited struct {
	KL estimate.Estimate `json:"kl_per_token"`
	TV estimate.Estimate `json:"tv_per_token"`
	// Path is a mean over texts that bounds TV(P̃, P) of whole texts, E (1 − Π p/p̃)₊ over the
	// tokens, and Limit an upper limit of this mean at the confidence of Path. Both are omitted if
	// not every group was audited.
	Path  *estimate.Estimate `json:"tv_of_texts,omitempty"`
	Limit float64            `json:"tv_of_texts_limit,omitempty"`
	// Worst is the greatest KL of a token, Calls the mean number of groups per sequence.
	Worst estimate.Number `json:"worst_token"`
	Calls float64         `json:"groups_per_text"`
	// Texts, Tokens and Rows count what was audited and the rows that it took.
	Texts  int `json:"texts"`
	Tokens int `json:"tokens"`
	Rows   int `json:"rows"`
}

// Terms holds the sums over the audited groups of one text.
type Terms struct {
	KL    estimate.Number `json:"kl"`
	TV    float64         `json:"tv"`
	Worst estimate.Number `json:"worst"`
	// Log is Σ log p(x) − log p̃(x) over the tokens, p one by one and p̃ together.
	Log    estimate.Number `json:"log_ratio"`
	Groups int             `json:"groups"`
	Tokens int             `json:"tokens"`
	Rows   int             `json:"rows"`
}

// OfRows returns the loss of a sequence's rows with kept keys and values against full rows.
func OfRows(a samplers.Audit) Terms {
	return Terms{KL: estimate.Number(a.KL), TV: a.TV, Worst: estimate.Number(a.MostKL), Log: estimate.Number(a.LogRatio), Groups: a.Calls, Tokens: a.Tokens, Rows: a.Rows}
}

// Summary summarizes texts, which are the units of the errors; whole is set if all groups of each
// text were audited.
func Summary(texts []Terms, whole bool, confidence float64) Audited {
	out := Audited{Texts: len(texts)}
	var kl, tv, tokens, path []float64
	for _, t := range texts {
		kl, tv, tokens = append(kl, float64(t.KL)), append(tv, t.TV), append(tokens, float64(t.Tokens))
		path = append(path, max(0, -math.Expm1(float64(t.Log))))
		out.Worst = max(out.Worst, t.Worst)
		out.Calls += float64(t.Groups) / float64(len(texts))
		out.Tokens += t.Tokens
		out.Rows += t.Rows
	}
	out.KL = estimate.SkewedRatio(kl, tokens, nil, confidence).Within(0, math.Inf(1))
	out.TV = estimate.SkewedRatio(tv, tokens, nil, confidence).Within(0, 1)
	if whole && len(texts) > 0 {
		mean := estimate.Bounded(path, 0, 1, confidence)
		out.Path, out.Limit = &mean, estimate.UpperLimit(path, mean.Confidence)
	}
	return out
}

// Audits returns an error if a sampler's samples cannot be audited.
func Audits(s *catalog.Sampler) error {
	if !s.Planned() {
		return fault.Errorf("interaction", "%s: its tokens are not drawn from the rows of one call at planned positions", s)
	}
	return nil
}

// Audit samples cfg.Sequences sequences by the plans of a sampler and compares each group with
// revealing its tokens one by one, which takes one more row per token.
func Audit(ctx context.Context, net samplers.Network, canvas []int, s *catalog.Sampler, cfg Config) (Audited, error) {
	var texts []Terms
	for i := range cfg.Sequences {
		t, err := AuditText(ctx, net, s, canvas, nil, draw.NewNumbers(cfg.Seed, uint64(i)), func() bool { return true })
		if err != nil {
			return Audited{}, err
		}
		texts = append(texts, t)
	}
	return Summary(texts, true, estimate.DefaultConfidence), nil
}

// AuditText compares the groups for which chosen returns true, in a text sampled with the numbers,
// with revealing their tokens one by one. A nil text is sampled here, to the same tokens, and all
// its groups are compared.
func AuditText(ctx context.Context, net samplers.Network, s *catalog.Sampler, canvas, text []int, numbers *draw.Numbers, chosen func() bool) (Terms, error) {
	a := &auditor{net: net, spec: net.Spec(), numbers: numbers, text: text}
	if err := Audits(s); err != nil {
		return a.Terms, err
	}
	var err error
	if a.categorical, err = draw.NewCategorical(a.spec.Vocabulary, s.Settings().Draw); err != nil {
		return a.Terms, err
	}
	var free []int
	for l, id := range canvas {
		if a.ids = append(a.ids, int64(id)); id == a.spec.Mask {
			free = append(free, l)
		}
	}
	var p plan.Plan
	m, _ := s.Plan()
	if err := m.Plan(&p, numbers, free); err != nil {
		return a.Terms, err
	}
	blocks := p.Blocks
	if len(p.Left) > 0 && m.Denoise {
		blocks = append(slices.Clone(blocks), plan.Block{Positions: p.Left, Theta: p.LeftTheta})
	}
	for _, b := range blocks {
		if text != nil && !chosen() {
			for _, l := range b.Positions {
				a.ids[l] = int64(text[l])
			}
		} else if err := a.group(ctx, b); err != nil {
			return a.Terms, err
		}
	}
	return a.Terms, nil
}

// auditor fills one sequence.
type auditor struct {
	net         samplers.Network
	spec        samplers.Spec
	categorical *draw.Categorical
	numbers     *draw.Numbers
	text        []int
	ids         []int64
	Terms
}

// group reveals the positions of a block and compares its rows with those of revealing one by one.
// A group of one position needs no comparison.
func (a *auditor) group(ctx context.Context, b plan.Block) error {
	a.Groups++
	a.Tokens += len(b.Positions)
	if a.text != nil && len(b.Positions) == 1 {
		a.ids[b.Positions[0]] = int64(a.text[b.Positions[0]])
		return nil
	}
	together, err := a.rows(ctx, []samplers.AskRow{{Positions: b.Positions, Theta: b.Theta}})
	if err != nil {
		return err
	}
	var asks []samplers.AskRow
	for i, l := range b.Positions {
		if a.text != nil {
			a.ids[l] = int64(a.text[l])
		} else {
			token, _ := a.categorical.Pick(exps(together[i]), a.numbers.Token(l))
			a.ids[l] = int64(token)
		}
		if i+1 < len(b.Positions) {
			asks = append(asks, samplers.AskRow{Canvas: slices.Clone(a.ids), Positions: b.Positions[i+1 : i+2], Theta: b.Theta}) // the time is not audited
		}
	}
	const most = 16 // canvases a call
	i := 0
	for some := range slices.Chunk(asks, most) {
		apart, err := a.rows(ctx, some)
		if err != nil {
			return err
		}
		for _, p := range apart {
			i++
			q := together[i]
			kl, tv := distance(q, p)
			token := a.ids[b.Positions[i]]
			a.KL += estimate.Number(kl)
			a.TV += tv
			a.Worst = max(a.Worst, estimate.Number(kl))
			if !math.IsInf(q[token], -1) { // so only by rounding
				a.Log += estimate.Number(p[token] - q[token])
			}
		}
	}
	return nil
}

// rows evaluates rows of logarithms of probabilities, in nats.
func (a *auditor) rows(ctx context.Context, asks []samplers.AskRow) ([][]float64, error) {
	var call samplers.Call
	for _, r := range asks {
		r.Theta = min(r.Theta, schedule.ThetaOf(a.spec.MostMasked()))
		call.Add(&a.spec, a.ids, r)
	}
	a.Rows += len(asks)
	return logs(ctx, a.net, a.categorical, call)
}

// logs returns the logarithms of the probabilities of a call's rows.
func logs(ctx context.Context, net samplers.Network, categorical *draw.Categorical, call samplers.Call) ([][]float64, error) {
	rows, err := samplers.RowsOf(ctx, net, call)
	if err != nil {
		return nil, err
	}
	columns, out := net.Spec().Columns, make([][]float64, len(call.Positions))
	for i, l := range call.Positions {
		out[i] = make([]float64, columns)
		if err := categorical.LogProbabilities(out[i], rows.Slice(i*columns, (i+1)*columns)); err != nil {
			return nil, fault.Errorf("interaction", "position %d: %w", l, err)
		}
	}
	return out, nil
}

// exps returns e to the power of each element.
func exps(logs []float64) []float64 {
	out := make([]float64, len(logs))
	for i, x := range logs {
		out[i] = math.Exp(x)
	}
	return out
}

// distance returns KL(p‖q) in nats and the total variation, from the logarithms of probabilities.
func distance(p, q []float64) (kl, tv float64) {
	for i, x := range p {
		e := math.Exp(x)
		if e > 0 {
			kl += e * (x - q[i])
		}
		tv += math.Abs(e-math.Exp(q[i])) / 2
	}
	return max(kl, 0), tv
}
