package model

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/checkpointtest"
	"mdmgen/internal/reftest"
	"mdmgen/model/checkpoint"
	"mdmgen/model/graph"
	"mdmgen/model/ort"
	"mdmgen/model/ort/library"
	"mdmgen/samplers"
)

// exactly computes the rows of a canvas by a network with two laws in float64, with YaRN's and LLaMA 4's
// formulas as in the reference.
func exactly(c *checkpoint.Checkpoint, ids []int64, block samplers.Span) [][]float64 {
	cfg, n := c.Config, c.Config.Names()
	weights := func(name string) []float64 {
		v := make([]float32, c.Tensor(name).Len())
		c.Tensor(name).Widen(v, 0)
		out := make([]float64, len(v))
		for i, x := range v {
			out[i] = float64(x)
		}
		return out
	}
	times := func(name string, x []float64, bias bool) []float64 {
		w := weights(name + ".weight")
		out := make([]float64, len(w)/len(x))
		if bias {
			copy(out, weights(name+".bias"))
		}
		for i := range out {
			for j, y := range x {
				out[i] += w[i*len(x)+j] * y
			}
		}
		return out
	}
	norm := func(name string, x []float64) []float64 {
		sum, w := 0.0, weights(name+".weight")
		for _, y := range x {
			sum += y * y
		}
		out := make([]float64, len(x))
		for i, y := range x {
			out[i] = y / math.Sqrt(sum/float64(len(x))+cfg.Epsilon) * w[i]
		}
		return out
	}
	size := cfg.HeadSize()
	turn := func(x []float64, position int) {
		y, half := cfg.Yarn, size/2
		dim := func(r float64) float64 {
			return float64(size) * math.Log(float64(y.Original)/(2*math.Pi*r)) / (2 * math.Log(cfg.RotaryBase))
		}
		for i := range half {
			f, scale := math.Pow(cfg.RotaryBase, -2*float64(i)/float64(size)), 1.0
			if y.Factor > 0 {
				low, high := max(math.Floor(dim(y.Fast)), 0), min(math.Ceil(dim(y.Slow)), float64(size-1))
				ramp := min(max((float64(i)-low)/(high-low), 0), 1)
				f, scale = f/y.Factor*ramp+f*(1-ramp), y.Scale
			}
			cos, sin := scale*math.Cos(f*float64(position)), scale*math.Sin(f*float64(position))
			x[i], x[i+half] = x[i]*cos-x[i+half]*sin, x[i+half]*cos+x[i]*sin
		}
	}
	heads := func(name, normed string, x []float64, position int) []float64 {
		y := times(name, x, cfg.QKVBias)
		for at := 0; at < len(y); at += size {
			if cfg.HeadNorm {
				copy(y[at:at+size], norm(normed, y[at:at+size]))
			}
			turn(y[at:at+size], position)
		}
		return y
	}
	var stream [][]float64
	table := weights(n.Embedding + ".weight")
	for _, id := range ids {
		stream = append(stream, slices.Clone(table[int(id)*cfg.Hidden:(int(id)+1)*cfg.Hidden]))
	}
	for b := range cfg.Blocks {
		var q, k, v [][]float64
		for l, x := range stream {
			x = norm(n.At(b, n.AttentionNorm), x)
			q = append(q, heads(n.At(b, n.Queries), n.At(b, n.QueryNorm), x, l))
			k = append(k, heads(n.At(b, n.Keys), n.At(b, n.KeyNorm), x, l))
			v = append(v, times(n.At(b, n.Values), x, cfg.QKVBias))
			if s := cfg.QueryScale; s.Beta != 0 {
				for i := range q[l] {
					q[l][i] *= 1 + s.Beta*math.Log(1+float64(l/s.Original))
				}
			}
		}
		for l := range stream {
			last := l
			if l >= block.From && l < block.To {
				last = block.To - 1
			}
			out := make([]float64, cfg.Heads*size)
			for h := range cfg.Heads {
				at, sum := h/(cfg.Heads/cfg.KeyHeads())*size, 0.0
				for j := range last + 1 {
					dot := 0.0
					for i := range size {
						dot += q[l][h*size+i] * k[j][at+i]
					}
					w := math.Exp(dot / math.Sqrt(float64(size)))
					sum += w
					for i := range size {
						out[h*size+i] += w * v[j][at+i]
					}
				}
				for i := range size {
					out[h*size+i] /= sum
				}
			}
			for i, y := range times(n.At(b, n.AttentionOut), out, cfg.OutBias) {
				stream[l][i] += y
			}
			x := norm(n.At(b, n.MLPNorm), stream[l])
			gate, up := times(n.At(b, n.Gate), x, false), times(n.At(b, n.Up), x, false)
			for i, g := range gate {
				up[i] *= g / (1 + math.Exp(-g))
			}
			for i, y := range times(n.At(b, n.Down), up, false) {
				stream[l][i] += y
			}
		}
	}
	head := n.Head
	if cfg.Tied {
		head = n.Embedding
	}
	for l, x := range stream {
		stream[l] = times(head, norm(n.FinalNorm, x), false)
	}
	return stream
}

// TestNemotronFloat64 compares networks of other shapes with float64: rows of blocks, of several canvases
// with blocks of their own in one call, with kept rows, and of a noisy copy.
func TestNemotronFloat64(t *testing.T) {
	t.Parallel()
	const yarn = `"rope_parameters":{"rope_type":"yarn","factor":8,"rope_theta":10000,"original_max_position_embeddings":7,"llama_4_scaling_beta":0.3`
	for i, keys := range []string{
		`"num_attention_heads":4,"num_key_value_heads":1,"head_dim":10,"rope_theta":1000`,
		`"num_attention_heads":3,"num_key_value_heads":3,"head_dim":8,"tie_word_embeddings":true,` + yarn + `}`,
		`"num_attention_heads":4,"num_key_value_heads":2,"head_dim":6,` + yarn + `,"mscale":0.7,"beta_fast":2,"beta_slow":0.1}`,
		`"num_attention_heads":2,"num_key_value_heads":1,"head_dim":12,"attention_bias":true,"rope_scaling":{"type":"yarn","factor":3,"rope_theta":500,"attention_factor":1.2},"architectures":["DiffEncoderModel"]`,
	} {
		if !strings.Contains(keys, "architectures") {
			keys += `,"architectures":["NemotronLabsDiffusionModel"]`
		}
		dir := t.TempDir()
		config := fmt.Sprintf(`{"hidden_size":24,"intermediate_size":20,"num_hidden_layers":2,"vocab_size":31,"max_position_embeddings":24,"mask_token_id":30,"block_size":4,%s}`, keys)
		reftest.OK(t, os.CopyFS(dir, checkpointtest.Folder(config, "", checkpoint.F32, uint64(i))))
		var said []string
		reftest.OK(t, os.MkdirAll(filepath.Join(dir, checkpoint.DraftAdapter), 0o777))
		reftest.OK(t, os.WriteFile(filepath.Join(dir, checkpoint.DraftAdapter, checkpoint.AdapterName), []byte("{}"), 0o666))
		net := keeper(t, dir, Options{Dtype: graph.Float32, Runtime: ort.Config{Threads: 1, Search: library.Search{Log: func(line string) { said = append(said, line) }}}})
		if !strings.Contains(fmt.Sprint(said), checkpoint.DraftAdapter) {
			t.Errorf("the adapter is not named: %q", said)
		}
		c := reftest.Must(checkpoint.Open(dir, ""))(t)
		defer c.Close()
		r := rand.New(rand.NewPCG(uint64(i), 1))
		const length = 13
		drawn := func() (ids []int64) {
			for range length {
				ids = append(ids, r.Int64N(31))
			}
			return ids
		}
		const limit = 1e-5 // float32 loses a quarter of it
		worst := 0.0
		check := func(what string, got []float32, want ...[]float64) {
			at := 0
			for _, row := range want {
				for _, x := range row {
					if d := math.Abs(x - float64(got[at])); !(d <= worst) {
						worst = d
					}
					at++
				}
			}
			if at != len(got) || !(worst <= limit) {
				t.Errorf("config %d, %s: %d of %d numbers differ by at most %g", i, what, at, len(got), worst)
			}
		}
		a, b := drawn(), drawn()
		blocks := []samplers.Span{{From: 3, To: 9}, {From: 11, To: 11}}
		rows := func(ids []int64, s samplers.Span, from, to int) [][]float64 { return exactly(c, ids, s)[from:to] }
		call := samplers.Call{IDs: slices.Concat(a, b), Positions: slices.Concat(everywhere(9)[3:], everywhere(11)[5:]), Counts: []int{6, 6}, Blocks: blocks}
		want := slices.Concat(rows(a, blocks[0], 3, 9), rows(b, blocks[1], 5, 11))
		check("two canvases", reftest.Must(net.Logits(t.Context(), call))(t), want...)
		// The causal rows before both blocks, in memory that is not filled, and then six rows of each.
		kept := call
		kept.Kept = []samplers.Kept{net.Keep(length), net.Keep(length)}
		kept.Blocks, kept.Counts, kept.Positions = []samplers.Span{{From: 5, To: 5}, {From: 5, To: 5}}, []int{1, 1}, []int64{4, 4}
		kept.Compute = slices.Concat(everywhere(5), everywhere(5))
		check("causal rows", reftest.Must(net.Logits(t.Context(), kept))(t), slices.Concat(rows(a, kept.Blocks[0], 4, 5), rows(b, kept.Blocks[1], 4, 5))...)
		call.Kept, call.Compute = kept.Kept, call.Positions
		check("kept rows", reftest.Must(net.Logits(t.Context(), call))(t), want...)
		// A noisy copy in blocks of 4 from position 3 on, with the causal rows of another text.
		call = samplers.Call{IDs: b, Positions: []int64{0}, Counts: []int{1}, Blocks: []samplers.Span{{From: length, To: length}}, Kept: []samplers.Kept{net.Keep(length)}}
		reftest.Must(net.Logits(t.Context(), call))(t)
		call.IDs, call.Noisy, call.Blocks = a, true, []samplers.Span{{From: 3, To: 7}}
		call.Positions, call.Counts, want = everywhere(length)[3:], []int{length - 3}, nil
		for from := 3; from < length; from += 4 {
			to := min(from+4, length)
			want = append(want, rows(slices.Concat(b[:from], a[from:]), samplers.Span{From: from, To: to}, from, to)...)
		}
		check("a noisy copy", reftest.Must(net.Logits(t.Context(), call))(t), want...)
	}
}

// TestNemotronTypes compares rows of other types of weights, with a tied head and embedding in 4 bits,
// with float32.
func TestNemotronTypes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const config = `{"architectures":["NemotronLabsDiffusionModel"],"hidden_size":64,"intermediate_size":96,"num_hidden_layers":2,"num_attention_heads":2,"num_key_value_heads":1,"head_dim":32,"vocab_size":96,
		"max_position_embeddings":24,"mask_token_id":95,"block_size":4,"rope_theta":10000,"tie_word_embeddings":true}`
	reftest.OK(t, os.CopyFS(dir, checkpointtest.Folder(config, "model.", checkpoint.BF16, 1)))
	var want []float32
	for _, c := range []struct {
		dtype graph.Dtype
		most  float64 // 4 bits of random weights lose a tenth
	}{{graph.Float32, 0}, {graph.Int8, 0.01}, {graph.Int4, 0.2}} {
		net := keeper(t, dir, Options{Dtype: c.dtype})
		call := samplers.Call{IDs: everywhere(12), Positions: everywhere(12)[5:9], Counts: []int{4}, Blocks: []samplers.Span{{From: 5, To: 9}}}
		rows := slices.Clone(reftest.Must(net.Logits(t.Context(), call))(t))
		if want == nil {
			want = rows
		}
		off, size := 0.0, 0.0
		for i := range rows {
			off += math.Pow(float64(rows[i]-want[i]), 2)
			size += math.Pow(float64(want[i]), 2)
		}
		if share := math.Sqrt(off / size); !(share <= c.most) || (share == 0) != (c.dtype == graph.Float32) {
			t.Errorf("%s: rows are off by %.3g of their size", c.dtype, share)
		}
	}
}
