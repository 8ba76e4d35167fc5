package checkpointtest

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"mdmgen/model/checkpoint"
)

// The functions that follow give parts of pickles, which are joined to larger ones.

// Global names a class or function.
func Global(module, name string) string { return "c" + module + "\n" + name + "\n" }

// Text is a text.
func Text(s string) string {
	return "X" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(s)))) + s
}

// Int is an integer of 64 bits.
func Int(n int64) string {
	return "\x8a\x08" + string(binary.LittleEndian.AppendUint64(nil, uint64(n)))
}

// Ints is a tuple of integers.
func Ints[T int | int64](n ...T) string {
	var items []string
	for _, x := range n {
		items = append(items, Int(int64(x)))
	}
	return Tuple(items...)
}

// Tuple is a tuple of values.
func Tuple(items ...string) string { return "(" + strings.Join(items, "") + "t" }

// List is a list of values.
func List(items ...string) string { return "](" + strings.Join(items, "") + "e" }

// Dict is a dict of keys and values in turn.
func Dict(pairs ...string) string { return "}(" + strings.Join(pairs, "") + "u" }

// Object is an instance of a class with a state.
func Object(module, name, state string) string {
	return Global(module, name) + ")\x81" + state + "b"
}

// Storage refers to the storage of a key with n elements.
func Storage(class, key string, n int64) string {
	return Tuple(Text("storage"), Global("torch", class), Text(key), Text("cuda:0"), Int(n)) + "Q"
}

// Rebuild is a tensor in a storage.
func Rebuild(storage string, first int64, shape, strides string) string {
	return Global("torch._utils", "_rebuild_tensor_v2") +
		Tuple(storage, Int(first), shape, strides, "\x89", Global("collections", "OrderedDict")+")R") + "R"
}

// Classes are torch's storages.
var Classes = map[checkpoint.Dtype]string{
	checkpoint.F32: "FloatStorage", checkpoint.F16: "HalfStorage", checkpoint.BF16: "BFloat16Storage", checkpoint.F64: "DoubleStorage",
}

// Saver keeps the storages of tensors that are part of a pickle.
type Saver struct {
	keys []string
	data map[string][]byte
	// counts are the elements of storages.
	counts map[string]int64
}

// Tensor is a tensor in a storage of its own.
func (s *Saver) Tensor(t checkpoint.Tensor) string {
	if s.data == nil {
		s.data, s.counts = map[string][]byte{}, map[string]int64{}
	}
	key := fmt.Sprint(len(s.keys))
	s.keys = append(s.keys, key)
	s.data[key], s.counts[key] = t.Data, int64(t.Len())
	strides := make([]int, len(t.Shape))
	for i, step := len(t.Shape)-1, 1; i >= 0; i-- {
		strides[i], step = step, step*t.Shape[i]
	}
	return Rebuild(Storage(Classes[t.Dtype], key, int64(t.Len())), 0, Ints(t.Shape...), Ints(strides...))
}

// StateDict is an OrderedDict of tensors.
func (s *Saver) StateDict(tensors ...checkpoint.Tensor) string {
	b := Global("collections", "OrderedDict") + ")R("
	for _, t := range tensors {
		b += Text(t.Name) + s.Tensor(t)
	}
	return b + "u}" + Text("_metadata") + "}sb"
}

// Zip is the file of a pickle and its storages, as torch writes it since 1.6.
func (s *Saver) Zip(value string) []byte { return Zip("\x80\x02"+value+".", s.data) }

// Legacy is the file as torch wrote it before.
func (s *Saver) Legacy(value string) []byte {
	b := []byte("\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.\x80\x02" + Dict(Text("little_endian"), "\x88") + "." + "\x80\x02" + value + ".\x80\x02")
	var keys []string
	for _, k := range s.keys {
		keys = append(keys, Text(k))
	}
	b = append(b, List(keys...)+"."...)
	for _, k := range s.keys {
		b = binary.LittleEndian.AppendUint64(b, uint64(s.counts[k]))
		b = append(b, s.data[k]...)
	}
	return b
}

// Zip is the archive of a pickle and of storages by key.
func Zip(pickle string, data map[string][]byte) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	put := func(name string, content []byte) {
		f, err := w.CreateHeader(&zip.FileHeader{Name: "archive/" + name, Method: zip.Store})
		if err == nil {
			_, err = f.Write(content)
		}
		if err != nil {
			panic(err)
		}
	}
	put("data.pkl", []byte(pickle))
	put("byteorder", []byte("little"))
	for key, content := range data {
		put("data/"+key, content)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}
