package checkpoint_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"mdmgen/model/checkpoint"
)

// The following functions return parts of pickles, to be joined into larger ones.

// pickleGlobal names a class or function.
func pickleGlobal(module, name string) string { return "c" + module + "\n" + name + "\n" }

// pickleText returns a string.
func pickleText(s string) string {
	return "X" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(s)))) + s
}

// pickleInt returns a 64-bit integer.
func pickleInt(n int64) string {
	return "\x8a\x08" + string(binary.LittleEndian.AppendUint64(nil, uint64(n)))
}

// pickleInts returns a tuple of integers.
func pickleInts[T int | int64](n ...T) string {
	var items []string
	for _, x := range n {
		items = append(items, pickleInt(int64(x)))
	}
	return pickleTuple(items...)
}

// pickleTuple returns a tuple of values.
func pickleTuple(items ...string) string { return "(" + strings.Join(items, "") + "t" }

// pickleList returns a list of values.
func pickleList(items ...string) string { return "](" + strings.Join(items, "") + "e" }

// pickleDict returns a dict of alternating keys and values.
func pickleDict(pairs ...string) string { return "}(" + strings.Join(pairs, "") + "u" }

// pickleObject returns an instance of a class with a state.
func pickleObject(module, name, state string) string {
	return pickleGlobal(module, name) + ")\x81" + state + "b"
}

// pickleStorage refers to the storage with a key and n elements.
func pickleStorage(class, key string, n int64) string {
	return pickleTuple(pickleText("storage"), pickleGlobal("torch", class), pickleText(key), pickleText("cuda:0"), pickleInt(n)) + "Q"
}

// pickleRebuild returns a tensor in a storage.
func pickleRebuild(storage string, first int64, shape, strides string) string {
	return pickleGlobal("torch._utils", "_rebuild_tensor_v2") +
		pickleTuple(storage, pickleInt(first), shape, strides, "\x89", pickleGlobal("collections", "OrderedDict")+")R") + "R"
}

// pickleClasses are torch's storage classes.
var pickleClasses = map[checkpoint.Dtype]string{
	checkpoint.F32: "FloatStorage", checkpoint.F16: "HalfStorage", checkpoint.BF16: "BFloat16Storage", checkpoint.F64: "DoubleStorage",
}

// pickleSaver collects the storages of the tensors in a pickle.
type pickleSaver struct {
	keys []string
	data map[string][]byte
	// counts are the numbers of elements of the storages.
	counts map[string]int64
}

// Tensor returns a tensor in a storage of its own.
func (s *pickleSaver) Tensor(t checkpoint.Tensor) string {
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
	return pickleRebuild(pickleStorage(pickleClasses[t.Dtype], key, int64(t.Len())), 0, pickleInts(t.Shape...), pickleInts(strides...))
}

// StateDict returns an OrderedDict of tensors.
func (s *pickleSaver) StateDict(tensors ...checkpoint.Tensor) string {
	b := pickleGlobal("collections", "OrderedDict") + ")R("
	for _, t := range tensors {
		b += pickleText(t.Name) + s.Tensor(t)
	}
	return b + "u}" + pickleText("_metadata") + "}sb"
}

// Tensors returns a list of tensors.
func (s *pickleSaver) Tensors(tensors ...checkpoint.Tensor) string {
	var all []string
	for _, x := range tensors {
		all = append(all, s.Tensor(x))
	}
	return pickleList(all...)
}

// Zip returns the file of a pickle and its storages, as torch writes it since 1.6.
func (s *pickleSaver) Zip(value string) []byte { return pickleZip("\x80\x02"+value+".", s.data) }

// Legacy returns the file as torch wrote it before 1.6.
func (s *pickleSaver) Legacy(value string) []byte {
	b := []byte("\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.\x80\x02" + pickleDict(pickleText("little_endian"), "\x88") + "." + "\x80\x02" + value + ".\x80\x02")
	var keys []string
	for _, k := range s.keys {
		keys = append(keys, pickleText(k))
	}
	b = append(b, pickleList(keys...)+"."...)
	for _, k := range s.keys {
		b = binary.LittleEndian.AppendUint64(b, uint64(s.counts[k]))
		b = append(b, s.data[k]...)
	}
	return b
}

// pickleZip returns the archive of a pickle and of storages by key.
func pickleZip(pickle string, data map[string][]byte) []byte {
	entries := []zipEntry{{"archive/data.pkl", []byte(pickle)}, {"archive/byteorder", []byte("little")}}
	for key, content := range data {
		entries = append(entries, zipEntry{"archive/data/" + key, content})
	}
	return zipOf(zip.Store, entries...)
}

type zipEntry struct {
	name    string
	content []byte
}

func zipOf(method uint16, entries ...zipEntry) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	var err error
	for _, e := range entries {
		f, cerr := w.CreateHeader(&zip.FileHeader{Name: e.name, Method: method})
		if err = errors.Join(err, cerr); err == nil {
			_, err = f.Write(e.content)
		}
	}
	if err = errors.Join(err, w.Close()); err != nil {
		panic(err)
	}
	return b.Bytes()
}
