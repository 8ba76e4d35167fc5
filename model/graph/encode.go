package graph

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"mdmgen/model/facts"
	"mdmgen/model/internal/onnxpb"
)

// model is an encoded graph whose inline weights have not been written yet.
type model struct {
	head  []byte // ModelProto up to the initializers
	inits []initializer
	heads [][]byte // of the initializers
	size  int64
}

// encode lays out the model. Initializers come last, each a head and its data, so that weights can
// be streamed.
func (b *builder) encode(f facts.Facts) (model, error) {
	text, err := json.Marshal(f)
	if err != nil {
		return model{}, fmt.Errorf("graph: facts of the model: %w", err)
	}
	graph := b.graph(f.Family)
	m := model{inits: b.inits}
	for _, t := range b.inits {
		h := t.head()
		m.heads = append(m.heads, h)
		m.size += int64(len(h))
		if t.inline() {
			m.size += t.size()
		}
	}
	top := onnxpb.Message{}.Int(1, irVersion).Text(2, producer).Text(6, describe(f)).
		Bytes(8, opsetID("", opset)).Bytes(8, opsetID(microsoft, 1)).
		Bytes(14, onnxpb.Pair(Key, string(text)))
	for _, kv := range readable(f) {
		top = top.Bytes(14, onnxpb.Pair(kv[0], kv[1]))
	}
	top = top.Begin(7, m.size+int64(len(graph)))
	m.head = append(top, graph...)
	m.size += int64(len(m.head))
	if m.size > math.MaxInt32 {
		return m, fmt.Errorf("graph: a model of %d bytes: a protocol buffer holds at most %d: write it to a folder, with its weights in a file of their own", m.size, math.MaxInt32)
	}
	return m, nil
}

// opsetID returns an OperatorSetIdProto; the empty domain is ONNX's own.
func opsetID(domain string, version int64) onnxpb.Message {
	var m onnxpb.Message
	if domain != "" {
		m = m.Text(1, domain)
	}
	return m.Int(2, version)
}

// WriteTo writes the model's bytes.
func (m model) WriteTo(w io.Writer) (int64, error) {
	k, err := w.Write(m.head)
	n := int64(k)
	for i, t := range m.inits {
		if err != nil {
			return n, err
		}
		k, err = w.Write(m.heads[i])
		n += int64(k)
		if err != nil || !t.inline() {
			continue
		}
		if t.src == nil {
			k, err = w.Write(t.raw)
			n += int64(k)
			continue
		}
		var written int64
		written, err = t.src.WriteTo(w)
		n += written
	}
	return n, err
}

// Bytes returns the model's bytes, in one allocation. It fails if a weight does not fit into the
// type in which it is stored.
func (m model) Bytes() ([]byte, error) {
	buf := bytes.NewBuffer(make([]byte, 0, m.size))
	_, err := m.WriteTo(buf)
	return buf.Bytes(), err
}

// readable returns the facts that people look for in a model viewer.
func readable(f facts.Facts) [][2]string {
	return [][2]string{
		{"family", f.Family}, {"parameters", itoa(f.Parameters)}, {"length", itoa(int64(f.Length))},
		{"mask_id", itoa(int64(f.MaskID))}, {"digest", f.Digest},
	}
}

// describe returns the model's doc string.
func describe(f facts.Facts) string {
	s := fmt.Sprintf("Masked diffusion language model (%s), %d parameters, %d positions, %d columns, mask id %d. ",
		f.Family, f.Parameters, f.Length, f.Columns, f.MaskID)
	s += "input_ids [B,L] are canvases, or some rows of them beside kept keys and values, position_ids [B,L] their positions, positions [B,K] the wanted positions; each take_ list, which may be empty, holds indices into those B*K: " +
		"logits [R,V] are the rows of take_rows, log_mu [G] the log-probabilities of targets [G] at take_given, log_mass [G] the logs of their rows' sums; " +
		"token [M] is drawn at take_best with uniforms [M] at temperatures [M], with log_p [M] and the entropy [M], and top_tokens [M,top], top_log_p [M,top] are the most probable"
	if f.TimeConditioned {
		s += "; sigma [B] is -log alpha in nats"
	}
	return s + "."
}
