package model

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mdmgen/model/facts"
	"mdmgen/model/ort"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// network is an ONNX graph of package graph, which documents its inputs and outputs. It returns
// rows; wrapped in a [heads] it returns the results of all heads.
type network struct {
	session *ort.Session
	facts   Facts
	origin  Origin
	// past opens the graph that keeps keys and values; nil if session has it or there is none.
	past  func(context.Context) (*ort.Session, error)
	sigma []float32
	out   []float32
	// positions [B·K] are the positions of a call: a row that wants fewer than another repeats its
	// last. take holds the indices of the wanted ones.
	positions, take []int64
	// ids and numbers are the results of the head that draws.
	ids     []int64
	numbers []float64
	// in and res are the tensors of a call, reused by the next.
	in, res   []ort.Tensor
	keeps     keptShape
	keptNames [][2]string // names of the keys, then of the values, of each block: input and output
	joint     int64       // maxJoint, except in tests
	recalled  recall
}

// heads is a network whose heads agree with the facts in force on tokens and kind of output.
type heads struct {
	*network
	// rowsStay is set once: requests may read it while calls move to another session.
	rowsStay bool
}

func (n *network) Facts() Facts { return n.facts }

func (n *network) Spec() samplers.Spec { return n.facts.Spec() }

// Spec returns the network's Spec; RowsStay is set on a GPU.
func (n heads) Spec() samplers.Spec {
	s := n.network.Spec()
	s.RowsStay = n.rowsStay
	return s
}

// Origin stays the same if calls move to another session.
func (n *network) Origin() Origin { return n.origin }

// origin describes a model that runs in a session.
func origin(ref string, f Facts, s *ort.Session) Origin {
	return Origin{
		Reference: ref, Family: f.Family, Digest: f.Digest, Parameters: f.Parameters, Dtype: f.Dtype,
		Runtime: "onnxruntime " + s.Library().Version, Provider: s.Provider(), GPUs: s.GPUs(), Threads: s.Threads(),
		Facts: &f, FactsDigest: f.Digested(),
	}
}

// Logits makes one network call; see [Model].
func (n *network) Logits(ctx context.Context, c samplers.Call) ([]float32, error) {
	if err := checkRows(n.facts, len(c.Positions)); err != nil {
		return nil, err
	}
	columns := n.facts.Columns
	n.out = grow(n.out, len(c.Positions)*columns)
	err := n.parts(ctx, c, func(c samplers.Call, from, to int) error {
		if err := n.ask(c); err != nil {
			return err
		}
		n.listed("take_rows", "logits")
		n.res = append(n.res, ort.Tensor{Name: "logits", Shape: []int64{int64(to - from), int64(columns)}, Float32: n.out[from*columns : to*columns]})
		return n.run(ctx)
	})
	return n.out, err
}

// LogProbs makes one network call; see [LogProber].
func (n heads) LogProbs(ctx context.Context, c samplers.Call, targets []int64, logMu, logMass []float64) error {
	return n.parts(ctx, c, func(c samplers.Call, from, to int) error {
		if err := n.ask(c); err != nil {
			return err
		}
		n.listed("take_given", "targets", "log_mu", "log_mass")
		shape := []int64{int64(to - from)}
		n.in = append(n.in, ort.Tensor{Name: "targets", Shape: shape, Int64: targets[from:to]})
		n.res = append(n.res, ort.Tensor{Name: "log_mu", Shape: shape, Float64: logMu[from:to]}, ort.Tensor{Name: "log_mass", Shape: shape, Float64: logMass[from:to]})
		return n.run(ctx)
	})
}

var _ samplers.Drawer = heads{}

// Best makes one network call; see [samplers.Drawer].
func (n heads) Best(ctx context.Context, c samplers.Call, d samplers.Drawing, dst []draw.Best) error {
	return n.parts(ctx, c, func(c samplers.Call, from, to int) error {
		return n.best(ctx, c, samplers.Drawing{Uniforms: d.Uniforms[from:to], Temperatures: d.Temperatures[from:to], Top: d.Top}, dst[from:to])
	})
}

func (n heads) best(ctx context.Context, c samplers.Call, d samplers.Drawing, dst []draw.Best) error {
	if err := n.ask(c); err != nil {
		return err
	}
	k := len(c.Positions)
	top := max(min(d.Top, n.facts.Columns), 1)
	n.listed("take_best", "uniforms", "temperatures", "top", "token", "log_p", "entropy", "top_tokens", "top_log_p")
	n.ids, n.numbers = slices.Grow(n.ids[:0], k*(1+top))[:k*(1+top)], slices.Grow(n.numbers[:0], k*(2+top))[:k*(2+top)]
	one, several := []int64{int64(k)}, []int64{int64(k), int64(top)}
	heats := ort.Tensor{Name: "temperatures", Shape: one, Float64: d.Temperatures}
	if d.Top == 0 && !slices.ContainsFunc(d.Temperatures, func(x float64) bool { return x != 1 }) {
		heats = ort.Tensor{Name: "temperatures", Shape: []int64{0}}
	}
	n.in = append(n.in,
		ort.Tensor{Name: "uniforms", Shape: one, Float64: d.Uniforms}, heats,
		ort.Tensor{Name: "top", Shape: []int64{1}, Int64: []int64{int64(min(d.Top, top))}})
	token, tokens := n.ids[:k], n.ids[k:]
	logP, entropy, logPs := n.numbers[:k], n.numbers[k:2*k], n.numbers[2*k:]
	n.res = append(n.res,
		ort.Tensor{Name: "token", Shape: one, Int64: token}, ort.Tensor{Name: "log_p", Shape: one, Float64: logP}, ort.Tensor{Name: "entropy", Shape: one, Float64: entropy},
		ort.Tensor{Name: "top_tokens", Shape: several, Int64: tokens}, ort.Tensor{Name: "top_log_p", Shape: several, Float64: logPs})
	if err := n.run(ctx); err != nil {
		return err
	}
	for i := range dst {
		dst[i] = draw.Best{Token: int(token[i]), LogP: logP[i]}
		if d.Top == 0 {
			continue
		}
		dst[i].Entropy = entropy[i]
		for j := i * top; j < (i+1)*top && logPs[j] > math.Inf(-1); j++ {
			dst[i].Top = append(dst[i].Top, draw.Scored{Token: int(tokens[j]), LogP: logPs[j]})
		}
	}
	return nil
}

// ask checks a call, whose rows are in memory whatever the head, and makes the inputs that all
// heads share.
func (n *network) ask(c samplers.Call) error {
	if _, err := callShape(n.facts, c); err != nil {
		return err
	}
	if err := checkRows(n.facts, len(c.Positions)); err != nil {
		return err
	}
	ids := n.recall(c)
	// The runtime rounds attention of a single query in another way than of several, so each canvas
	// asks at least two. Otherwise rows would depend on what others in the call want.
	rows, most := len(c.Counts), max(slices.Max(c.Counts), 2)
	n.positions, n.take = n.positions[:0], n.take[:0]
	rest := c.Positions
	for r, k := range c.Counts {
		for j := range most {
			n.positions = append(n.positions, n.recalled.row(r, rest[min(j, k-1)]))
		}
		for j := range k {
			n.take = append(n.take, int64(r*most+j))
		}
		rest = rest[k:]
	}
	n.in = append(n.in[:0],
		ort.Tensor{Name: "input_ids", Shape: []int64{int64(rows), int64(n.recalled.rows)}, Int64: ids},
		ort.Tensor{Name: "positions", Shape: []int64{int64(rows), int64(most)}, Int64: n.positions},
	)
	if n.facts.TimeConditioned {
		n.sigma = grow(n.sigma, rows)
		for i, s := range c.Sigma {
			n.sigma[i] = float32(s)
		}
		n.in = append(n.in, ort.Tensor{Name: "sigma", Shape: []int64{int64(rows)}, Float32: n.sigma})
	}
	n.res = n.res[:0]
	n.keys()
	return nil
}

// run makes the call and stores the keys and values that are to be kept.
func (n *network) run(ctx context.Context) error {
	err := n.session.Run(ctx, n.in, n.res)
	if err == nil {
		n.store()
	}
	return err
}

// headInputs and headOutputs are the tensors of the heads. The value of an output is its second
// dimension: −1 if it has none, 0 if it is a row's.
var (
	headInputs  = []string{"take_rows", "take_given", "targets", "take_best", "uniforms", "temperatures", "top"}
	headOutputs = map[string]int{"logits": 0, "log_mu": -1, "log_mass": -1, "token": -1, "log_p": -1, "entropy": -1, "top_tokens": 1, "top_log_p": 1}
)

// noTop is the input top of the head that draws if that head has nothing to draw.
var noTop = []int64{0}

// listed passes the wanted rows to one head and none to the others. own are the tensors of that
// head, which the caller adds.
func (n *network) listed(list string, own ...string) {
	for _, name := range headInputs {
		switch {
		case name == list:
			n.in = append(n.in, ort.Tensor{Name: name, Shape: []int64{int64(len(n.take))}, Int64: n.take})
		case slices.Contains(own, name):
		case name == "top":
			n.in = append(n.in, ort.Tensor{Name: name, Shape: []int64{1}, Int64: noTop})
		default:
			n.in = append(n.in, ort.Tensor{Name: name, Shape: []int64{0}})
		}
	}
	for name, second := range headOutputs {
		shape := []int64{0}
		if second == 0 {
			second = n.facts.Columns
		}
		if second > 0 {
			shape = append(shape, int64(second))
		}
		if !slices.Contains(own, name) {
			n.res = append(n.res, ort.Tensor{Name: name, Shape: shape})
		}
	}
}

func (n *network) Close() error { return n.session.Close() }

// callShape checks a call against the facts and returns the canvas length. It panics on wrong
// lengths, which are a mistake of the program; it returns an error for a canvas or an id that the
// network cannot take, which come from the user.
func callShape(f Facts, c samplers.Call) (length int, err error) {
	rows, wanted := len(c.Counts), 0
	for _, n := range c.Counts {
		wanted += n
	}
	if rows < 1 || len(c.IDs)%rows != 0 || len(c.IDs) == 0 || wanted != len(c.Positions) || slices.Min(c.Counts) < 1 {
		panic(fmt.Sprintf("model: %d ids and %d positions in rows of %v", len(c.IDs), len(c.Positions), c.Counts))
	}
	if f.TimeConditioned && len(c.Sigma) != rows || !f.TimeConditioned && c.Sigma != nil {
		panic(fmt.Sprintf("model: %d values of sigma for %d rows, time-conditioned is %t", len(c.Sigma), rows, f.TimeConditioned))
	}
	length = c.Length()
	if length > f.Length || f.FixedLength && length != f.Length {
		most := "at most "
		if f.FixedLength {
			most = "exactly "
		}
		return 0, fmt.Errorf("model %s: a canvas of %d positions: the network takes %s%d", f.Family, length, most, f.Length)
	}
	limit := int64(max(f.Columns, f.MaskID+1))
	if i := slices.IndexFunc(c.IDs, func(id int64) bool { return id < 0 || id >= limit }); i >= 0 {
		return 0, fmt.Errorf("model %s: id %d at position %d: ids are 0..%d", f.Family, c.IDs[i], i%length, limit-1)
	}
	if i := slices.IndexFunc(c.Positions, func(p int64) bool { return p < 0 || p >= int64(length) }); i >= 0 {
		panic(fmt.Sprintf("model: position %d of a canvas of %d", c.Positions[i], length))
	}
	return length, nil
}

// checkRows rejects a call whose rows, at that many positions, would not fit into memory.
func checkRows(f Facts, positions int) error {
	if n := float64(positions) * float64(f.Columns); n > facts.MaxRows {
		return fmt.Errorf("model %s: rows of %d positions and %d columns are %.3g numbers: a call returns at most %d: use smaller batches or shorter canvases", f.Family, positions, f.Columns, n, facts.MaxRows)
	}
	return nil
}

// grow returns a slice of n elements, in s's memory if it is large enough.
func grow(s []float32, n int) []float32 {
	return slices.Grow(s[:0], n)[:n]
}
