package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"mdmgen/model/checkpoint"
)

// largeConfig is of a network that has just more than 256 MiB in float32, so that its float16
// weights are widened into the cache and not in memory.
const largeConfig = `{"model_type":"mdlm","architectures":["MDLM"],"hidden_dim":512,"cond_dim":16,"n_blocks":1,"n_heads":8,
"model_length":16,"vocab_size":63000,"time_conditioning":false,"mask_token_id":62999,"torch_dtype":"float16"}`

// largeCheckpoint writes a checkpoint of random float16 weights, once, to the folder model beside
// a command's.
func largeCheckpoint(dir string) error {
	c, err := checkpoint.ParseConfig([]byte(largeConfig))
	if err != nil {
		return err
	}
	header, at := make(map[string]any), 0
	for s := range c.Tensors() {
		size := 2
		for _, n := range s.Shape {
			size *= n
		}
		header["backbone."+s.Name] = map[string]any{"dtype": "F16", "shape": s.Shape, "data_offsets": [2]int{at, at + size}}
		at += size
	}
	text, err := json.Marshal(header)
	if err != nil {
		return err
	}
	for len(text)%8 != 0 {
		text = append(text, ' ')
	}
	model := filepath.Join(filepath.Dir(dir), "model")
	if err := os.Mkdir(model, 0o777); errors.Is(err, fs.ErrExist) {
		return nil
	} else if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(model, "config.json"), []byte(largeConfig), 0o666); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(model, "model.safetensors"))
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	_ = binary.Write(w, binary.LittleEndian, uint64(len(text))) // w keeps its first error
	_, _ = w.Write(text)
	_, _ = io.CopyN(w, &weights{rand.NewPCG(1, 0)}, int64(at))
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// weights is an endless reader of float16 numbers between 1/64 and 1/32, of either sign; it is
// read at whole numbers.
type weights struct{ source rand.Source }

func (r *weights) Read(p []byte) (int, error) {
	var number [8]byte
	for i := 0; i < len(p); i += len(number) {
		binary.LittleEndian.PutUint64(number[:], r.source.Uint64()&0x83ff83ff83ff83ff|0x2400240024002400)
		copy(p[i:], number[:])
	}
	return len(p), nil
}
