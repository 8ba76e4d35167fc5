package match

import (
	"errors"
	"math"
	"slices"

	"mdmgen/internal/expsum"
	"mdmgen/samplers/draw"
)

// wanted is a position whose token is to be drawn from a row with a uniform.
type wanted struct {
	position int
	row      draw.Row
	uniform  float64
	to       *draw.Result
	// read reports whether the row is also read; shaped is then its marginal of the network's own rows
	// restricted to the language, whatever the settings draw from.
	read   bool
	shaped draw.Row
}

// joint draws the tokens of a group of positions of a region from the product of their rows,
// restricted to tokens for which some completion of the other masks is in the language. It filters
// backwards, in logarithms, and draws forwards.
type joint struct {
	*sets
	law      *draw.Categorical // draws with the settings, and plain at temperature 1 from whole rows
	plain    *draw.Categorical
	mask     int64
	from, to int
	// cold selects the jointly likeliest tokens. top is the number of most probable tokens
	// requested at each position. marginal reports whether log-probabilities are marginal, instead
	// of given the tokens before.
	cold, marginal bool
	top            int
	// behind holds the states, by position minus from, from which the rest of the region can be filled.
	behind []int32
	p      []float64
}

// layer is a position to be drawn, with the sets of states possible before it.
type layer struct {
	*wanted
	row   draw.Row
	nodes []node
	// logs holds, by class, log Σ e^(logit/temperature), or the greatest logit. weights holds the
	// exponentials of logs − scale; it is nil if the greatest logits are used.
	logs, weights []float64
	scale         float64
}

// node is a set of states before a position. Its arcs lead to nodes of the next layer.
type node struct {
	set   int32
	arcs  []arc
	after float64 // the log of the filtered weight of the rows from here on
}

// The bounds of a group, which is otherwise drawn in parts: nodes, and classes of all positions.
const (
	maxNodes   = 1 << 16
	maxClasses = 1 << 24
)

// errParts is the error of a group that is too large, or whose mass is lost to rounding or truncation.
var errParts = errors.New("the group is to be drawn in parts")

// draw draws a group in ascending order and puts the tokens on the canvas.
func (j *joint) draw(ids []int64, group []*wanted) error {
	j.look(ids)
	layers, err := j.layers(ids, group)
	if err == nil {
		err = j.filter(layers)
	}
	switch {
	case err == nil:
		return j.forward(ids, layers)
	case !errors.Is(err, errParts):
		return err
	case len(group) == 1:
		return draw.ErrNoMass
	}
	half := len(group) / 2
	if err := j.draw(ids, group[:half]); err != nil {
		return err
	}
	return j.draw(ids, group[half:])
}

// look computes the states from which the rest of the region can be filled, and reports whether all
// of it can.
func (j *joint) look(ids []int64) bool {
	if j.size > maxSize {
		j.sets = newSets(j.Language)
	}
	j.behind = slices.Grow(j.behind[:0], j.to-j.from+1)[:j.to-j.from+1]
	set := j.numberOf(j.accept...)
	j.behind[j.to-j.from] = set
	for l := j.to - 1; l >= j.from; l-- {
		set = j.move(move{set, j.classOf(ids[l]), true})
		j.behind[l-j.from] = set
	}
	return has(j.list[set], 0)
}

// classOf returns the class of a token on the canvas, or 0 if the token is in no text.
func (j *joint) classOf(id int64) int32 {
	switch {
	case id == j.mask:
		return anyClass
	case int(id) < len(j.class):
		return j.class[id]
	}
	return 0
}

// pass returns the set before position to that follows from a set before position from, over
// positions that are not drawn. It keeps only states from which the rest can be filled.
func (j *joint) pass(ids []int64, set int32, from, to int) int32 {
	for _, id := range ids[from:to] {
		set = j.move(move{set, j.classOf(id), false})
	}
	return j.meet(set, j.behind[to-j.from])
}

// layers computes the possible sets before each position, and after the last.
func (j *joint) layers(ids []int64, group []*wanted) ([]layer, error) {
	first := j.pass(ids, j.numberOf(0), j.from, group[0].position)
	if first == 0 {
		return nil, draw.ErrNoMass
	}
	layers, total := make([]layer, len(group)+1), 0
	layers[0].nodes = []node{{set: first}}
	for k, w := range group {
		layers[k].wanted, layers[k].row = w, w.row
		next := j.to
		if k+1 < len(group) {
			next = group[k+1].position
		}
		passed, place := make(map[int32]int32), make(map[int32]int32)
		behind := &layers[k+1].nodes
		for n := range layers[k].nodes {
			v := &layers[k].nodes[n]
			for _, a := range j.arcsOf(v.set) {
				set, ok := passed[a.to]
				if !ok {
					set = j.pass(ids, a.to, w.position+1, next)
					passed[a.to] = set
				}
				if set == 0 {
					continue
				}
				to, ok := place[set]
				if !ok {
					to = int32(len(*behind))
					place[set], *behind = to, append(*behind, node{set: set})
				}
				v.arcs = append(v.arcs, arc{to, a.classes})
			}
		}
		if total += len(layers[k].nodes); total > maxNodes || k*len(j.members) > maxClasses || j.size > 2*maxSize {
			return nil, errParts
		}
	}
	return layers, nil
}

// filter computes, from the last position to the first, the weight of the rows after each node.
func (j *joint) filter(layers []layer) error {
	for k := len(layers) - 2; k >= 0; k-- {
		y, next := &layers[k], layers[k+1].nodes
		if err := j.weigh(y); err != nil {
			return err
		}
		some := false
		for n := range y.nodes {
			v := &y.nodes[n]
			v.after = math.Inf(-1)
			for _, a := range v.arcs {
				if x := y.mass(a.classes) + next[a.to].after; j.cold {
					v.after = max(v.after, x)
				} else {
					v.after = expsum.Add(v.after, x)
				}
			}
			some = some || !math.IsInf(v.after, -1)
		}
		if !some {
			return errParts
		}
	}
	return nil
}

// forward draws the tokens, first to last, and puts them on the canvas.
func (j *joint) forward(ids []int64, layers []layer) error {
	at := int32(0)
	for k := range layers[:len(layers)-1] {
		y := &layers[k]
		arcs := y.nodes[at].arcs
		token, logP := j.token(y, arcs, layers[k+1].nodes)
		y.to.Token, y.to.LogP = token, logP
		ids[y.position] = int64(token)
		at = arcs[slices.IndexFunc(arcs, func(a arc) bool { return a.has(j.class[token]) })].to
	}
	if j.top > 0 || j.marginal {
		if err := j.marginals(layers); err != nil {
			return err
		}
	}
	if layers[0].read {
		return j.shape(layers)
	}
	return nil
}

// token draws the token of a position given those before it, using the arcs of a node.
func (j *joint) token(y *layer, arcs []arc, next []node) (token int, logP float64) {
	greatest := math.Inf(-1)
	for _, a := range arcs {
		for _, c := range a.classes {
			greatest = max(greatest, y.logs[c]+next[a.to].after)
		}
	}
	p := j.row(y.row.Len())
	clear(p)
	token = len(p)
	for _, a := range arcs {
		for _, c := range a.classes {
			if math.IsInf(y.logs[c]+next[a.to].after, -1) {
				continue
			}
			for _, t := range j.members[c] {
				x := j.tempered(y.row.At(int(t))) + next[a.to].after
				if j.cold && x == greatest {
					token = min(token, int(t))
				}
				p[t] = math.Exp(x - greatest)
			}
		}
	}
	if j.cold {
		return token, 0
	}
	return j.law.Pick(p, y.uniform)
}
