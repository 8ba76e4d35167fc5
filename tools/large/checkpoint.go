package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"mdmgen/model/checkpoint"
)

// config is LLaDA-8B's, with as many layers as asked for.
const config = `{"architectures":["LLaDAModelLM"],"model_type":"llada","d_model":4096,"n_layers":%d,"n_heads":32,"n_kv_heads":32,
"mlp_hidden_size":12288,"max_sequence_length":4096,"vocab_size":126464,"embedding_size":126464,"mask_token_id":126336,
"rope_theta":500000.0,"rms_norm_eps":1e-05,"weight_tying":false,"block_type":"llama","layer_norm_type":"rms",
"activation_type":"silu","rope":true,"torch_dtype":"bfloat16"}
`

// kinds are parts of names of tensors: each kind has a shard, so that every layer is read from
// most of them.
var kinds = []string{".wte.", "_proj.|.attn_out.", ".ff_proj.", ".up_proj.", ".ff_out.", "norm.|.ln_f."}

// kind is the shard of a tensor. The MLP's first layers end as queries, keys and values do, so
// the last that fits counts.
func kind(name string) (shard int) {
	for i, parts := range kinds {
		for part := range strings.SplitSeq(parts, "|") {
			if strings.Contains("."+name, part) {
				shard = i
			}
		}
	}
	return shard
}

// writeCheckpoint writes a folder with a checkpoint of bf16 weights and returns its bytes. Norms
// are 1; matrices are random, or where sparse is set holes in the files, which read as zeros.
func writeCheckpoint(dir string, layers int, sparse bool) (size int64, err error) {
	text := fmt.Appendf(nil, config, layers)
	c, err := checkpoint.ParseConfig(text)
	if err != nil {
		return 0, err
	}
	shards := make([][]checkpoint.Spec, len(kinds))
	index := map[string]string{}
	file := func(shard int) string { return fmt.Sprintf("model-%05d-of-%05d.safetensors", shard+1, len(kinds)) }
	for s := range c.Tensors() {
		k := kind(s.Name)
		shards[k] = append(shards[k], s)
		index["model."+s.Name] = file(k)
	}
	list, err := json.Marshal(map[string]any{"weight_map": index})
	if err != nil {
		return 0, err
	}
	for name, data := range map[string][]byte{"config.json": text, "model.safetensors.index.json": list} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			return 0, err
		}
	}
	for k, specs := range shards {
		n, err := writeShard(filepath.Join(dir, file(k)), specs, sparse, rand.NewPCG(1, uint64(k)))
		if size += n; err != nil {
			return size, err
		}
	}
	return size, nil
}

func writeShard(path string, specs []checkpoint.Spec, sparse bool, random *rand.PCG) (size int64, err error) {
	header, at := map[string]any{}, int64(0)
	for _, s := range specs {
		header["model."+s.Name] = map[string]any{"dtype": "BF16", "shape": s.Shape, "data_offsets": [2]int64{at, at + bytes(s)}}
		at += bytes(s)
	}
	text, err := json.Marshal(header)
	if err != nil {
		return 0, err
	}
	text = append(text, strings.Repeat(" ", 7-(len(text)+7)%8)...)
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	size = 8 + int64(len(text)) + at
	if err := f.Truncate(size); err != nil {
		return 0, err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	_ = binary.Write(w, binary.LittleEndian, uint64(len(text))) // w keeps its first error
	_, _ = w.Write(text)
	for _, s := range specs {
		switch {
		case len(s.Shape) == 1:
			_, err = io.CopyN(w, ones{}, bytes(s))
		case sparse:
			if err = w.Flush(); err == nil {
				_, err = f.Seek(bytes(s), io.SeekCurrent)
			}
		default:
			_, err = io.CopyN(w, weights{random}, bytes(s))
		}
		if err != nil {
			return size, err
		}
	}
	return size, w.Flush()
}

// bytes are those of a tensor in bf16.
func bytes(s checkpoint.Spec) int64 {
	n := int64(2)
	for _, d := range s.Shape {
		n *= int64(d)
	}
	return n
}

// weights is an endless reader of bf16 numbers between 1/64 and 1/32, of either sign, and ones
// of 1; they are read at whole numbers, eight bytes at a time.
type (
	weights struct{ source *rand.PCG }
	ones    struct{}
)

func (r weights) Read(p []byte) (int, error) {
	return fill(p, func() uint64 { return r.source.Uint64()&0x807f807f807f807f | 0x3c803c803c803c80 })
}

func (ones) Read(p []byte) (int, error) {
	return fill(p, func() uint64 { return 0x3f803f803f803f80 })
}

func fill(p []byte, next func() uint64) (int, error) {
	var eight [8]byte
	for i := 0; i < len(p); i += len(eight) {
		binary.LittleEndian.PutUint64(eight[:], next())
		copy(p[i:], eight[:])
	}
	return len(p), nil
}
