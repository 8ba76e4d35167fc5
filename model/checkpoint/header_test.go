package checkpoint

import (
	"encoding/binary"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
)

// framed puts the length of a header before it and size bytes after it.
func framed(header string, size int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), make([]byte, size)...)
}

func TestHeaderRefuses(t *testing.T) {
	const a = `"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}`
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"empty file", nil, "too short"},
		{"seven bytes", make([]byte, 7), "too short"},
		{"header longer than the file", framed(`{}`, 0)[:9], "truncated or not safetensors"},
		{"header of 2^64 − 1 bytes", slices.Repeat([]byte{0xff}, 64), "at most"},
		{"header of 0 bytes", make([]byte, 16), "truncated or not safetensors"},
		{"text", []byte("<!DOCTYPE html><html>"), "is this a safetensors file?"},
		{"pointer", []byte("version https://git-lfs.github.com/spec/v1\n"), "`git lfs pull`"},
		{"array", framed(`[]`, 0), "does not begin with '{'"},
		{"JSON stops", framed(`{`+a, 8), "the JSON ends too early"},
		{"JSON stops in a tensor", framed(`{"a":{"dtype":"F32"`, 8), "the JSON ends too early"},
		{"not JSON", framed(`{a}`, 0), "invalid character"},
		{"text after the object", framed(`{} {}`, 0), "after top-level value"},
		{"tensor twice", framed(`{`+a+`,`+a+`}`, 8), `"a" appears twice`},
		{"metadata twice", framed(`{"__metadata__":{},"__metadata__":{}}`, 0), "appears twice"},
		{"metadata of numbers", framed(`{"__metadata__":{"a":1}}`, 0), "__metadata__ is not an object of strings"},
		{"tensor is a number", framed(`{"a":1}`, 0), "tensor a: a number instead of an object"},
		{"key twice", framed(`{"a":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, 8), `"dtype" appears twice`},
		{"no dtype", framed(`{"a":{"shape":[2],"data_offsets":[0,8]}}`, 8), "dtype is missing"},
		{"no shape", framed(`{"a":{"dtype":"F32","data_offsets":[0,8]}}`, 8), "shape is missing"},
		{"no offsets", framed(`{"a":{"dtype":"F32","shape":[2]}}`, 8), "data_offsets is missing"},
		{"three offsets", framed(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8,9]}}`, 8), "must be 2"},
		{"no type", framed(`{"a":{"dtype":"q 4","shape":[2],"data_offsets":[0,8]}}`, 8), `dtype "q 4" is not the name of a type`},
		{"type is a number", framed(`{"a":{"dtype":4,"shape":[2],"data_offsets":[0,8]}}`, 8), `tensor a: field "dtype"`},
		{"shape of fractions", framed(`{"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,8]}}`, 8), `tensor a: field "shape"`},
		{"negative dimension", framed(`{"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}}`, 8), "is invalid"},
		{"product overflows", framed(`{"a":{"dtype":"F32","shape":[4294967296,4294967296,4294967296],"data_offsets":[0,0]}}`, 0), "is invalid"},
		{"product overflows to zero", framed(`{"a":{"dtype":"F32","shape":[1099511627776,16777216],"data_offsets":[0,0]}}`, 0), "is invalid"},
		{"too many dimensions", framed(`{"a":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,2],"data_offsets":[0,8]}}`, 8), "at most 8"},
		{"offsets too far apart", framed(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}}`, 8), "takes 4 bytes"},
		{"offsets backwards", framed(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}}`, 8), "do not hold"},
		{"negative offset", framed(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[-8,0]}}`, 8), "do not hold"},
		{"past the end", framed(`{`+a+`}`, 7), "ends at byte 8 of 7"},
		{"bytes left over", framed(`{`+a+`}`, 9), "1 bytes after the last tensor"},
		{"gap", framed(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`, 8), "4 bytes after the one before it"},
		{"overlap", framed(`{`+a+`,"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}`, 12), "tensor b: begins at byte 4, inside"},
		{"same bytes twice", framed(`{`+a+`,"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, 8), "inside the one before it"},
		{"name with a line break", framed(`{"a\nb":1}`, 0), `tensor "a\nb": `},
	} {
		reftest.FailsInLine(t, reftest.Err(parseHeader(c.file, int64(len(c.file)))), c.want, c.name)
	}
}

func TestHeaderAccepts(t *testing.T) {
	for _, c := range []struct {
		name, header string
		size, want   int
	}{
		{"no tensors", `{}`, 0, 0},
		{"metadata only", `{"__metadata__":{"format":"pt"}}`, 0, 0},
		{"spaces after the object", `{}      `, 0, 0},
		{"scalar", `{"a":{"dtype":"F64","shape":[],"data_offsets":[0,8]}}`, 8, 1},
		{"empty tensors", `{"a":{"dtype":"F32","shape":[0,3],"data_offsets":[0,0]},"b":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}`, 0, 2},
		{"types that no network uses", `{"a":{"dtype":"F4","shape":[3],"data_offsets":[0,2]},"b":{"dtype":"C64","shape":[1],"data_offsets":[2,10]},"c":{"dtype":"F8_E8M0","shape":[2],"data_offsets":[10,12]}}`, 12, 3},
		{"a field more", `{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"crc":{"x":[1]}}}`, 8, 1},
		{"order of names is not that of data", `{"a":{"dtype":"F16","shape":[2],"data_offsets":[4,8]},"b":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}}`, 8, 2},
	} {
		h, err := parseHeader(framed(c.header, c.size), int64(8+len(c.header)+c.size))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if len(h.entries) != c.want {
			t.Errorf("%s: %d tensors, want %d", c.name, len(h.entries), c.want)
		}
	}
}

// FuzzHeader checks that accepted headers cover the file's bytes exactly once, with tensors whose
// types and shapes agree with their extents.
func FuzzHeader(f *testing.F) {
	f.Add([]byte{})
	f.Add(framed(`{}`, 0))
	f.Add(framed(`{"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},"b":{"dtype":"I64","shape":[],"data_offsets":[8,16]}}  `, 16))
	f.Add(framed(`{"a":{"dtype":"F16","shape":[0],"data_offsets":[0,0]}}`, 0))
	f.Add(slices.Repeat([]byte{0xff}, 32))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := FileOf(b)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("an error of several lines: %q", err)
			}
			return
		}
		var covered int64
		for _, name := range s.Names() {
			x, ok := s.Tensor(name)
			if size := x.Dtype.Size(); !ok || size > 0 && len(x.Data) != x.Len()*size {
				t.Fatalf("tensor %q has %d bytes for %s %v", name, len(x.Data), x.Dtype, x.Shape)
			}
			covered += int64(len(x.Data))
			if x.Dtype.Float() {
				x.Widen(make([]float32, min(x.Len(), 4)), 0)
			}
		}
		n := int64(binary.LittleEndian.Uint64(b))
		if covered != int64(len(b))-8-n {
			t.Errorf("%d bytes of tensors in %d", covered, int64(len(b))-8-n)
		}
		if !json.Valid(b[8 : 8+n]) {
			t.Error("accepted a header that is not JSON")
		}
	})
}
