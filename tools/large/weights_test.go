//go:build linux

package large

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

// shards is the number of weight files, over which the tensors are distributed in turn.
const shards = 6

// write writes a checkpoint of random BF16 weights, with a config.json, to a folder, and returns
// the total size of its tensors in bytes.
func write(dir, config string) (size int64, err error) {
	c, err := checkpoint.ParseConfig([]byte(config))
	if err != nil {
		return 0, err
	}
	var headers [shards]map[string]any
	var sizes [shards]int64
	index, n := make(map[string]string), 0
	for s := range c.Tensors() {
		k, name := n%shards, "model."+s.Name
		if n++; headers[k] == nil {
			headers[k] = make(map[string]any)
		}
		from := sizes[k]
		bytes := int64(2)
		for _, d := range s.Shape {
			bytes *= int64(d)
		}
		sizes[k] += bytes
		headers[k][name] = map[string]any{"dtype": "BF16", "shape": s.Shape, "data_offsets": [2]int64{from, sizes[k]}}
		index[name] = shard(k)
	}
	list, err := json.Marshal(map[string]any{"weight_map": index})
	err = errors.Join(err, os.WriteFile(filepath.Join(dir, "config.json"), []byte(config), 0o666),
		os.WriteFile(filepath.Join(dir, "model.safetensors.index.json"), list, 0o666))
	for k := range shards {
		err = errors.Join(err, writeShard(filepath.Join(dir, shard(k)), headers[k], sizes[k], rand.NewPCG(1, uint64(k))))
		size += sizes[k]
	}
	return size, err
}

func shard(k int) string { return fmt.Sprintf("model-%05d-of-%05d.safetensors", k+1, shards) }

func writeShard(path string, header map[string]any, size int64, random rand.Source) (err error) {
	text, err := json.Marshal(header)
	if err != nil {
		return err
	}
	text = append(text, strings.Repeat(" ", 7-(len(text)+7)%8)...)
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<20)
	_ = binary.Write(w, binary.LittleEndian, uint64(len(text))) // w keeps its first error
	_, _ = w.Write(text)
	_, _ = io.CopyN(w, numbers{random}, size)
	return w.Flush()
}

// numbers is an endless reader of numbers between 1/64 and 1/32, of either sign, generated eight
// bytes at a time.
type numbers struct{ random rand.Source }

func (r numbers) Read(p []byte) (int, error) {
	var eight [8]byte
	for i := 0; i < len(p); i += len(eight) {
		binary.LittleEndian.PutUint64(eight[:], r.random.Uint64()&0x807f807f807f807f|0x3c803c803c803c80)
		copy(p[i:], eight[:])
	}
	return len(p), nil
}
