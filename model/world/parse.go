package world

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"mdmgen/internal/expsum"
	"mdmgen/internal/plainjson"
	"mdmgen/model/facts"
)

const (
	// maxFile is the maximum size of a file, in bytes; maxEntries that of a table, in
	// probabilities: states·d·V.
	maxFile    = 256 << 20
	maxEntries = 1 << 22
	maxLength  = 20
	// rowTolerance is the greatest allowed distance of a distribution's sum from 1.
	rowTolerance = 1e-9
)

// Parse reads a world from the bytes of its file. Every error is one line that names the field.
// Fields that are not the network's are kept, unchecked, for [World.Extra].
func Parse(data []byte) (*World, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("%d bytes: a world has at most %d", len(data), maxFile)
	}
	var fields map[string]json.RawMessage
	if err := plainjson.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	p := parser{plainjson.NewObject(fields)}
	var schema string
	p.Need("schema", &schema)
	if p.Err() == nil && schema != Schema && schema != SchemaCausal {
		return nil, fmt.Errorf("schema is %.40q: only %q and %q are read", schema, Schema, SchemaCausal)
	}
	w := &World{extra: fields}
	w.d = p.integer("d", 1, maxLength)
	w.v = p.integer("V", 1, maxEntries)
	if err := p.Err(); err != nil {
		return nil, err
	}
	states := power(w.v+1, w.d)
	if states < 0 || states > maxEntries/(w.d*w.v) {
		return nil, fmt.Errorf("d = %d and V = %d: a table of (V+1)^d·d·V probabilities has at most %d", w.d, w.v, maxEntries)
	}
	symbols, mask := w.v+1, w.v
	if p.May("S", &symbols); symbols != w.v+1 {
		p.Fail("field \"S\" is %d: must be %d", symbols, w.v+1)
	}
	if p.May("mask", &mask); mask != w.v {
		p.Fail("field \"mask\" is %d: must be %d", mask, w.v)
	}
	var name, kind string
	p.May("name", &name)
	p.Need("mu_kind", &kind)
	if err := p.Err(); err != nil {
		return nil, err
	}
	w.masked = maskedBits(w.d, w.v, states)
	w.mu0 = p.table(w, "mu0")
	switch kind {
	case "time_free":
		w.log0 = make([]float64, len(w.mu0))
		for i, m := range w.mu0 {
			w.log0[i] = expsum.Log(m, 0)
		}
	case "time_mixture":
		w.mu1 = p.table(w, "mu1")
		p.weight(w)
	default:
		return nil, fmt.Errorf("mu_kind is %q: must be \"time_free\" or \"time_mixture\"", kind)
	}
	block := 0
	if schema == SchemaCausal {
		if block = w.d; fields["block_size"] != nil {
			block = p.integer("block_size", 1, w.d)
		}
		if w.mu1 != nil {
			p.Fail("field \"causal\": needs mu_kind \"time_free\"")
		}
		p.causal(w)
	}
	if _, ok := fields["q0"]; ok {
		w.q0 = make([]float64, power(w.v, w.d))
		if err := readRow(fields["q0"], w.q0); err != nil {
			p.Fail("field \"q0\": %w", err)
		}
	}
	if err := p.Err(); err != nil {
		return nil, err
	}
	for _, used := range []string{"mu0", "mu1", "q0", "causal"} {
		delete(fields, used)
	}
	w.facts = facts.Facts{
		Schema: facts.Schema, Name: name, Family: "world", Columns: w.v, MaskID: w.v,
		Length: w.d, FixedLength: true, TimeConditioned: w.mu1 != nil, Output: facts.Logits,
		BlockSize: block, Causal: schema == SchemaCausal, Noise: "exp", Digest: fmt.Sprintf("sha256:%x", sha256.Sum256(data)),
	}
	return w, w.facts.Validate()
}

// parser reads the fields of a world.
type parser struct{ plainjson.Object }

// integer reads a required integer between least and most.
func (p *parser) integer(name string, least, most int) int {
	n := least
	if p.Need(name, &n); n < least || n > most {
		p.Fail("field %q is %d: must be in %d..%d", name, n, least, most)
		return least
	}
	return n
}

func (p *parser) weight(w *World) {
	var f struct{ C, P *float64 }
	p.Need("mu_weight", &f)
	if p.Err() != nil {
		return
	}
	if f.C == nil || f.P == nil || !(*f.C >= 0 && *f.C <= 1) || !(*f.P >= 0 && *f.P <= 1000) {
		p.Fail("field \"mu_weight\": needs c in [0,1] and p in [0,1000]")
		return
	}
	w.c, w.p = *f.C, *f.P
}

// table reads a row for each state and position, null if the position is visible.
func (p *parser) table(w *World, name string) []float64 {
	out := make([]float64, len(w.masked)*w.d*w.v)
	var states [][]json.RawMessage
	p.Need(name, &states)
	if len(states) != len(w.masked) {
		p.Fail("field %q: must have %d states", name, len(w.masked))
		return nil
	}
	for s, rows := range states {
		if len(rows) != w.d {
			p.Fail("field %q, state %d: must be a list of %d rows", name, s, w.d)
			return nil
		}
		for l, raw := range rows {
			at := (s*w.d + l) * w.v
			var err error
			if w.masked[s]&(1<<l) != 0 {
				err = readRow(raw, out[at:at+w.v])
			} else if string(raw) != "null" {
				err = fmt.Errorf("%.40s at a visible position: must be null", raw)
			}
			if err != nil {
				p.Fail("field %q, state %d, position %d: %w", name, s, l, err)
			}
		}
	}
	return out
}

// readRow reads a distribution.
func readRow(raw json.RawMessage, dst []float64) error {
	var entries []json.RawMessage
	if err := json.Unmarshal(raw, &entries); err != nil {
		return plainjson.Plain(nil, err)
	}
	if len(entries) != len(dst) {
		return fmt.Errorf("%d probabilities: must be %d", len(entries), len(dst))
	}
	var sum float64
	for a, text := range entries {
		q, err := strconv.ParseFloat(string(text), 64)
		if err != nil || !(q >= 0) || q > 1+rowTolerance {
			return fmt.Errorf("entry %d is %.40s: must be a probability", a, text)
		}
		dst[a] = q
		sum += q
	}
	if math.Abs(sum-1) > rowTolerance {
		return fmt.Errorf("the probabilities sum to %v: must be 1 within %v", sum, rowTolerance)
	}
	return nil
}

// power returns b^n, or −1 if that is above maxEntries.
func power(b, n int) int {
	out := 1
	for range n {
		if out > maxEntries/b {
			return -1
		}
		out *= b
	}
	return out
}

// maskedBits returns, for each state, the set of its masked positions.
func maskedBits(d, v, states int) []uint32 {
	out := make([]uint32, states)
	for s := range out {
		rest := s
		for l := d - 1; l >= 0; l-- {
			if rest%(v+1) == v {
				out[s] |= 1 << l
			}
			rest /= v + 1
		}
	}
	return out
}
