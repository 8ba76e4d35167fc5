package model

import (
	"context"
	"fmt"
	"slices"

	"mdmgen/model/facts"
	"mdmgen/model/ort"
	"mdmgen/samplers"
)

// network is an ONNX graph with our inputs and outputs: input_ids, positions,
// sigma where the network is time-conditioned; logits.
type network struct {
	session *ort.Session
	facts   Facts
	ref     string
	sigma   []float32
	out     []float32
	// tensors of a call, kept from one to the next.
	in, res []ort.Tensor
}

func (n *network) Facts() Facts { return n.facts }

func (n *network) Spec() samplers.Spec { return n.facts.Spec() }

func (n *network) Origin() Origin { return origin(n.ref, n.facts, n.session, Rows) }

// origin describes a model that runs in a session.
func origin(ref string, f Facts, s *ort.Session, outlet Outlet) Origin {
	return Origin{
		Reference: ref, Family: f.Family, Digest: f.Digest, Parameters: f.Parameters, Dtype: f.Dtype,
		Runtime: "onnxruntime " + s.Library().Version, Provider: s.Provider(), Threads: s.Threads(), Outlet: outlet,
		Facts: &f, FactsDigest: f.Digested(),
	}
}

// Logits makes one network call; see [Model].
func (n *network) Logits(ctx context.Context, rows int, ids, positions []int64, sigma []float64) ([]float32, error) {
	wanted, err := n.ask(rows, ids, positions, sigma)
	if err != nil {
		return nil, err
	}
	n.out = grow(n.out, rows*wanted*n.facts.Columns)
	n.res = append(n.res[:0], ort.Tensor{Name: "logits", Shape: []int64{int64(rows), int64(wanted), int64(n.facts.Columns)}, Float32: n.out})
	if err := n.session.Run(ctx, n.in, n.res); err != nil {
		return nil, err
	}
	return n.out, nil
}

// ask checks a call and makes its inputs, those that every outlet has; it returns the
// number of wanted positions a row.
func (n *network) ask(rows int, ids, positions []int64, sigma []float64) (wanted int, err error) {
	length, wanted, err := callShape(n.facts, rows, ids, positions, sigma)
	if err == nil {
		err = checkRows(n.facts, rows, wanted)
	}
	if err != nil {
		return 0, err
	}
	n.in = append(n.in[:0],
		ort.Tensor{Name: "input_ids", Shape: []int64{int64(rows), int64(length)}, Int64: ids},
		ort.Tensor{Name: "positions", Shape: []int64{int64(rows), int64(wanted)}, Int64: positions},
	)
	if n.facts.TimeConditioned {
		n.sigma = grow(n.sigma, rows)
		for i, s := range sigma {
			n.sigma[i] = float32(s)
		}
		n.in = append(n.in, ort.Tensor{Name: "sigma", Shape: []int64{int64(rows)}, Float32: n.sigma})
	}
	return wanted, nil
}

func (n *network) Close() error { return n.session.Close() }

// callShape checks the arguments of a call against the facts and returns the
// canvas length and the number of wanted positions a row. Wrong lengths are a
// mistake of the program and panic; a canvas or an id that the network cannot
// take comes from the user and is an error.
func callShape(f Facts, rows int, ids, positions []int64, sigma []float64) (length, wanted int, err error) {
	if rows < 1 || len(ids)%rows != 0 || len(positions)%rows != 0 || len(positions) == 0 || len(ids) == 0 {
		panic(fmt.Sprintf("model: %d ids and %d positions in %d rows", len(ids), len(positions), rows))
	}
	if f.TimeConditioned && len(sigma) != rows || !f.TimeConditioned && sigma != nil {
		panic(fmt.Sprintf("model: %d values of sigma for %d rows, time-conditioned is %t", len(sigma), rows, f.TimeConditioned))
	}
	length, wanted = len(ids)/rows, len(positions)/rows
	if length > f.Length || f.FixedLength && length != f.Length {
		return 0, 0, fmt.Errorf("model %s: a canvas of %d positions: the network takes %s%d", f.Family, length, map[bool]string{true: "exactly ", false: "at most "}[f.FixedLength], f.Length)
	}
	limit := int64(max(f.Columns, f.MaskID+1))
	if i := slices.IndexFunc(ids, func(id int64) bool { return id < 0 || id >= limit }); i >= 0 {
		return 0, 0, fmt.Errorf("model %s: id %d at position %d: ids are 0..%d", f.Family, ids[i], i%length, limit-1)
	}
	if i := slices.IndexFunc(positions, func(p int64) bool { return p < 0 || p >= int64(length) }); i >= 0 {
		panic(fmt.Sprintf("model: position %d of a canvas of %d", positions[i], length))
	}
	return length, wanted, nil
}

// checkRows refuses a call whose rows would not fit into memory: so many positions in each
// of so many canvases.
func checkRows(f Facts, rows, positions int) error {
	if n := float64(rows) * float64(positions) * float64(f.Columns); n > facts.MaxRows {
		return fmt.Errorf("model %s: rows of %d canvases, %d positions and %d columns are %.3g numbers: a call has at most %d: ask for fewer canvases at once or shorter ones", f.Family, rows, positions, f.Columns, n, facts.MaxRows)
	}
	return nil
}

// grow returns a slice of n elements, s's own memory where it is large enough.
func grow(s []float32, n int) []float32 {
	if cap(s) < n {
		return make([]float32, n)
	}
	return s[:n]
}
