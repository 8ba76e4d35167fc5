// Package weights writes checkpoints of random weights, of any size.
package weights

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

// Masks and ones make 16 random bits a number between 1/64 and 1/32, of either sign.
var masks = map[string][2]uint64{
	"BF16": {0x807f807f807f807f, 0x3c803c803c803c80},
	"F16":  {0x83ff83ff83ff83ff, 0x2400240024002400},
}

// Write writes a checkpoint with a config.json to a folder, and returns its bytes. Names of tensors
// begin with prefix; dtype is BF16 or F16. The tensors take turns in the shards.
func Write(dir, config, prefix, dtype string, shards int) (size int64, err error) {
	c, err := checkpoint.ParseConfig([]byte(config))
	if err != nil {
		return 0, err
	}
	file := func(shard int) string {
		if shards == 1 {
			return "model.safetensors"
		}
		return fmt.Sprintf("model-%05d-of-%05d.safetensors", shard+1, shards)
	}
	specs, index, n := make([][]checkpoint.Spec, shards), make(map[string]string), 0
	for s := range c.Tensors() {
		specs[n%shards] = append(specs[n%shards], s)
		index[prefix+s.Name] = file(n % shards)
		n++
	}
	list, err := json.Marshal(map[string]any{"weight_map": index})
	if err != nil {
		return 0, err
	}
	files := map[string][]byte{"config.json": []byte(config)}
	if shards > 1 {
		files["model.safetensors.index.json"] = list
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			return 0, err
		}
	}
	for k := range specs {
		n, err := writeShard(filepath.Join(dir, file(k)), specs[k], prefix, dtype, rand.NewPCG(1, uint64(k)))
		if size += n; err != nil {
			return size, err
		}
	}
	return size, nil
}

func writeShard(path string, specs []checkpoint.Spec, prefix, dtype string, random rand.Source) (size int64, err error) {
	header := make(map[string]any)
	for _, s := range specs {
		from := size
		bytes := int64(2)
		for _, d := range s.Shape {
			bytes *= int64(d)
		}
		size += bytes
		header[prefix+s.Name] = map[string]any{"dtype": dtype, "shape": s.Shape, "data_offsets": [2]int64{from, size}}
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
	w := bufio.NewWriterSize(f, 1<<20)
	_ = binary.Write(w, binary.LittleEndian, uint64(len(text))) // w keeps its first error
	_, _ = w.Write(text)
	_, _ = io.CopyN(w, &numbers{random, masks[dtype]}, size)
	return 8 + int64(len(text)) + size, w.Flush()
}

// numbers is an endless reader of numbers, read eight bytes at a time.
type numbers struct {
	random rand.Source
	mask   [2]uint64
}

func (r *numbers) Read(p []byte) (int, error) {
	var eight [8]byte
	for i := 0; i < len(p); i += len(eight) {
		binary.LittleEndian.PutUint64(eight[:], r.random.Uint64()&r.mask[0]|r.mask[1])
		copy(p[i:], eight[:])
	}
	return len(p), nil
}
