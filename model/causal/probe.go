package causal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"

	"mdmgen/internal/plainfile"
	"mdmgen/internal/plainjson"
)

const (
	// maxConfig is the maximum size of config.json, in bytes.
	maxConfig = 16 << 20
	// probeTokens is the length of the texts that a network is probed with.
	probeTokens = 8
)

// contextOf returns the maximum number of tokens of a network from the config.json of its folder, 0
// if unknown. GPT-2 calls it n_positions, later networks max_position_embeddings, some n_ctx or
// max_seq_len; multimodal networks have it in text_config.
func contextOf(path string) (int, error) {
	type lengths struct {
		Positions     int `json:"n_positions"`
		MaxEmbeddings int `json:"max_position_embeddings"`
		Context       int `json:"n_ctx"`
		MaxSeqLen     int `json:"max_seq_len"`
	}
	var config struct {
		lengths
		Text lengths `json:"text_config"`
	}
	dir := filepath.Dir(path)
	err := plainjson.ReadFS(plainfile.Folder(dir), "config.json", maxConfig, &config)
	if errors.Is(err, fs.ErrNotExist) && filepath.Base(dir) == "onnx" {
		err = plainjson.ReadFS(plainfile.Folder(filepath.Dir(dir)), "config.json", maxConfig, &config)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("config.json: %w", plainfile.Cause(err))
	}
	n := 0
	for _, l := range []lengths{config.lengths, config.Text} {
		n = cmp.Or(n, l.Positions, l.MaxEmbeddings, l.Context, l.MaxSeqLen)
	}
	if n < 0 || n == 1 {
		return 0, fmt.Errorf("config.json: texts of %d tokens: must be at least 2", n)
	}
	return n, nil
}

// probe runs two texts that differ only in their last token: the rows of a causal network before it
// are the same. Both texts are in one call if the graph allows that, since some quantised networks
// scale by the values of the whole call.
func (m *Model) probe(ctx context.Context) error {
	n, columns := min(probeTokens, cmp.Or(m.Length(), probeTokens)), m.graph.columns
	if n < 2 || columns < 2 {
		return nil // There is nothing to compare.
	}
	two := make(texts, 2)
	for i := range two {
		ids := make([]int, n)
		for l := range ids {
			ids[l] = (l + 1) * columns / (n + 2)
		}
		ids[n-1] = (n - 1 + 2*i) * columns / (n + 2)
		two[i] = ids
	}
	length := cmp.Or(m.graph.length, n)
	together := min(2, cmp.Or(m.graph.rows, 2))
	var rows [][]float32 // [2][n·columns]
	for some := range slices.Chunk(two, together) {
		if err := m.run(ctx, some, max(together, m.graph.rows), length); err != nil {
			return err
		}
		for r := range some {
			rows = append(rows, slices.Clone(m.out[r*length*columns:][:n*columns]))
		}
	}
	last := (n - 1) * columns
	earlier, _ := moved(rows[0][:last], rows[1][:last])
	own, top := moved(rows[0][last:], rows[1][last:])
	share := 1e-4
	if together == 1 && m.graph.quantised {
		share = 0.1
	}
	if earlier > share*own+rounding[m.graph.dtype]*top {
		return fmt.Errorf("causal %s: is not causal: changing the last of %d tokens changes logits before it by %.3g, and its own by %.3g: give a network that predicts the next token from those before it", m.ref, n, earlier, own)
	}
	return nil
}

// rounding is the allowed difference between two computations of the same logits, relative to the
// greatest.
var rounding = map[string]float64{"float32": 1e-5, "float16": 2e-3, "bfloat16": 16e-3}

// moved returns the greatest absolute difference between two lists of logits, and the greatest
// absolute logit.
func moved(a, b []float32) (difference, top float64) {
	for i := range a {
		difference = max(difference, math.Abs(float64(a[i])-float64(b[i])))
		top = max(top, math.Abs(float64(a[i])), math.Abs(float64(b[i])))
	}
	return difference, top
}
