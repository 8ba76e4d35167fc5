package checkpoint_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"mdmgen/internal/checkpointtest"
	"mdmgen/internal/reftest"
	"mdmgen/model/checkpoint"
)

// The most that a hostile file may take.
const (
	hostileBytes = 200 << 20 // allocated in total, an upper bound on the peak
	hostileTime  = 10 * time.Second
)

// TestHostileFiles checks that malicious files are rejected in one line, quickly and with little
// memory, and that nothing in them is run.
func TestHostileFiles(t *testing.T) {
	text, num, dict, tuple := pickleText, pickleInt, pickleDict, pickleTuple
	marker := filepath.Join(t.TempDir(), "run")
	command := text("touch " + marker)
	system := pickleGlobal("posix", "system")
	pickled := func(value string) []byte { return pickleZip("\x80\x02"+value+".", nil) }
	// one returns a state_dict with a tensor in a storage of 8 bytes.
	one := func(tensor string) []byte {
		return pickleZip("\x80\x02"+dict(text("x"), tensor)+".", map[string][]byte{"0": make([]byte, 8)})
	}
	two := pickleStorage("FloatStorage", "0", 2)
	shaped := func(first int64, shape, strides string) []byte {
		return one(pickleRebuild(two, first, shape, strides))
	}
	raw := func(s string) []byte { return []byte("\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19." + s) }
	wide := strings.Repeat("x", 15<<20)
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"os.system through REDUCE", pickled(system + tuple(command) + "R"), "names posix.system"},
		{"os.system through STACK_GLOBAL", pickled("\x8c\x02os\x8c\x06system\x93" + tuple(command) + "R"), "names os.system"},
		{"os.system through GLOBAL alone", pickled(pickleGlobal("os", "system")), "names os.system"},
		{"os.system as a tensor's class, called", pickled(pickleGlobal("torch._tensor", "_rebuild_from_type_v2") + tuple(pickleGlobal("torch._utils", "_rebuild_x"), system+"q\x09", tuple(), "N") + "R0h\x09" + tuple(command) + "R"), "names posix.system"},
		{"os.system as a tensor's function", pickled(pickleGlobal("torch._tensor", "_rebuild_from_type_v2") + tuple(system, pickleGlobal("torch", "Tensor"), tuple(command), "N") + "R"), "names posix.system"},
		{"os.system through INST", pickled("(" + command + "ios\nsystem\n"), "opcode 0x69"},
		{"os.system through OBJ", pickled("(" + command + "o"), "opcode 0x6f"},
		{"os.system through NEWOBJ", pickled(pickleGlobal("subprocess", "Popen") + tuple(command) + "\x81"), "names subprocess.Popen"},
		{"os.system through BUILD", pickled(pickleGlobal("collections", "OrderedDict") + dict(text("__class__"), command) + "b"), "state of a value without state"},
		{"os.system through a state", pickled(pickleObject("__main__", "Evil", command)), "names __main__.Evil"},
		{"eval", pickled(pickleGlobal("__builtin__", "eval") + tuple(command) + "R"), "names __builtin__.eval"},
		{"exec of protocol 3", pickled(pickleGlobal("builtins", "exec") + tuple(command) + "R"), "names builtins.exec"},
		{"getattr", pickled(pickleGlobal("builtins", "getattr") + tuple(command) + "R"), "names builtins.getattr"},
		{"a pickle in a storage", pickled(pickleGlobal("torch.storage", "_load_from_bytes") + tuple(command) + "R"), "names torch.storage._load_from_bytes"},
		{"torch.load", pickled(pickleGlobal("torch.serialization", "load") + tuple(command) + "R"), "names torch.serialization.load"},
		{"a dotted name", pickled("\x8c\x12torch._utils.os\n.x\x8c\x06system\x93"), `names "torch._utils.os\n.x.system"`},
		{"an extension", pickled("\x82\x01"), "opcode 0x82"},
		{"a persistent id that is text", pickled(text("storage") + "Q"), "other than a torch storage"},
		{"a persistent id in a line", pickled("Pos.system\n"), "opcode 0x50"},
		{"a persistent id of a module", pickled(tuple(text("module"), text("a"), text("b"), text("c"), text("d")) + "Q"), "other than a torch storage"},
		{"a persistent id of a path", pickled(pickleStorage("FloatStorage", "../../etc/passwd", 2)), "storage ../../etc/passwd is not in the file"},
		{"a call of a tensor", one(pickleRebuild(two, 0, pickleInts(2), pickleInts(1)) + ")R"), "calls a value that is not a class"},
		{"a storage of another size", one(pickleRebuild(pickleStorage("FloatStorage", "0", 3), 0, pickleInts(3), pickleInts(1))), "storage 0 has 8 bytes: 3 elements of F32 take 12"},
		{"a storage of a negative size", one(pickleStorage("FloatStorage", "0", -2)), "a malformed storage"},
		{"a storage whose size overflows", one(pickleStorage("FloatStorage", "0", 1<<62+2)), "a malformed storage"},
		{"a negative dimension", shaped(0, pickleInts(-2), pickleInts(1)), "is invalid"},
		{"dimensions whose product overflows", shaped(0, pickleInts(1<<32, 1<<32), pickleInts(1, 1)), "is invalid"},
		{"dimensions beyond the file", shaped(0, pickleInts(1<<40), pickleInts(0)), "more than the file"},
		{"a negative stride", shaped(1, pickleInts(2), pickleInts(-1)), "are not in a storage of 2"},
		{"an offset beyond the storage", shaped(1, pickleInts(2), pickleInts(1)), "from 1 on are not in a storage of 2"},
		{"a negative offset", shaped(-1, pickleInts(2), pickleInts(1)), "from -1 on"},
		{"an offset that overflows", shaped(1<<63-1, pickleInts(2), pickleInts(1)), "are not in a storage of 2"},
		{"huge dimensions", shaped(0, tuple("\x8a\x10"+strings.Repeat("\x7f", 16)), pickleInts(1)), "is malformed"},
		{"a stride beyond the storage", shaped(0, pickleInts(2, 1), pickleInts(3, 2)), "are not in a storage of 2"},
		{"strides that overflow", shaped(0, pickleInts(3, 2), pickleInts(1<<62, 1<<62)), "are not in a storage of 2"},
		{"too many dimensions", shaped(0, pickleInts(1, 1, 1, 1, 1, 1, 1, 1, 1), pickleInts(1, 1, 1, 1, 1, 1, 1, 1, 1)), "is malformed"},
		{"a tensor of too few arguments", one(pickleGlobal("torch._utils", "_rebuild_tensor_v2") + tuple(two) + "R"), "is malformed"},
		{"a list for a state_dict", pickled("]"), "no dict"},
		{"a dict without tensors", pickled(dict(text("a"), "K\x01")), "no tensor has a name"},
		{"an empty stack", pickled("0"), "empty stack"},
		{"a mark that is not there", pickled("t"), "empty stack"},
		{"a memo that is not there", pickled("h\x07"), "memo 7"},
		{"a text of 2^64 − 1 bytes", pickled("\x8d\xff\xff\xff\xff\xff\xff\xff\xff"), "ends too early"},
		{"a text of 4 GB", pickled("X\xff\xff\xff\xff"), "ends too early"},
		{"an integer of 2 GB", pickled("\x8b\xff\xff\xff\x7f"), "ends too early"},
		{"a pickle without an end", pickleZip("\x80\x02}", nil), "ends too early"},
		{"millions of lists", pickled(strings.Repeat("]", 8<<20)), "more than 524288 values"},
		{"millions of dicts", pickled("(" + strings.Repeat("}", 8<<20) + "t"), "more than 524288 values"},
		{"millions of marks", pickled(strings.Repeat("(", 8<<20)), "more than 524288 values"},
		{"millions of memos", pickled("}" + strings.Repeat("\x94", 8<<20)), "more than 524288 values"},
		{"a long pickle", pickled(text(wide) + text(wide)), "ends too early"},
		{"tuples of tuples, each twice", pickled(dict(text("x"), ")q\x01"+strings.Repeat("h\x01h\x01\x86q\x01", 60)) + "q\x02" + "0" + dict(text("state_dict"), dict(text("a"), text("b")), text("x"), "h\x01")), "no tensor has a name"},
		{"a pickle of protocol 0", pickleZip("(dp0\n.", nil), "opcode 0x64"},
		{"a pickle of protocol 9", pickleZip("\x80\x09}.", nil), "protocol 9"},
		{"an opcode that is none", pickled("\xff"), "opcode 0xff"},
		{"a zip bomb", zipOf(zip.Deflate, zipEntry{"archive/data.pkl", make([]byte, 64<<20)}), "compressed"},
		{"a zip of 4 GB of nothing", forgedSize(pickled("}")), "not at its place"},
		{"a zip with a name twice", zipOf(zip.Store, zipEntry{"a/data.pkl", []byte("\x80\x02}.")}, zipEntry{"a/data.pkl", []byte("\x80\x02}.")}), "listed twice"},
		{"a zip without a directory", pickled("}")[:40], "not a valid zip file"},
		{"a zip whose directory is elsewhere", elsewhere(pickled("}")), "not at its place"},
		{"a zip with a large directory", bigDirectory(), "more than 16777216 bytes of directory"},
		{"a zip without a pickle", zipOf(zip.Store, zipEntry{"word/document.xml", []byte("x")}), "no NAME/data.pkl"},
		{"an old file that ends", raw(""), "ends too early"},
		{"an old file of another version", raw("\x80\x02K\x07.\x80\x02}.\x80\x02}.\x80\x02]."), "version other than"},
		{"an old file that calls", raw("\x80\x02M\xe9\x03.\x80\x02" + system + tuple(command) + "R."), "names posix.system"},
		{"an old file with a storage that ends", raw("\x80\x02M\xe9\x03.\x80\x02}.\x80\x02" + dict(text("x"), two) + ".\x80\x02" + pickleList(text("0")) + ".\x02\x00"), "ends outside of the file"},
		{"an old file with another count", raw("\x80\x02M\xe9\x03.\x80\x02}.\x80\x02" + dict(text("x"), two) + ".\x80\x02" + pickleList(text("0")) + ".\x03\x00\x00\x00\x00\x00\x00\x00" + strings.Repeat("\x00", 64)), "but its tensors need 2"},
		{"a view of a storage", raw("\x80\x02M\xe9\x03.\x80\x02}.\x80\x02" + tuple(text("storage"), pickleGlobal("torch", "FloatStorage"), text("0"), text("cpu"), num(2), num(1)) + "Q."), "a view of another"},
		{"an old file without the storage", raw("\x80\x02M\xe9\x03.\x80\x02}.\x80\x02" + dict(text("x"), two) + ".\x80\x02].."), "0 storages in the file, and tensors of 1"},
		{"a header of 2^63 bytes", slices.Concat(binary.LittleEndian.AppendUint64(nil, 1<<63), make([]byte, 64)), "at most"},
	} {
		path := filepath.Join(t.TempDir(), "pytorch_model.bin")
		err := errors.Join(os.WriteFile(path, c.data, 0o600), os.WriteFile(filepath.Join(filepath.Dir(path), "config.json"), []byte(tinyConfig), 0o600))
		reftest.OK(t, err)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		_, err = checkpoint.Open(path, "")
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		refuses(t, c.name, err, c.want)
		if n := after.TotalAlloc - before.TotalAlloc; n > hostileBytes || took > hostileTime {
			t.Errorf("%s: took %v and %d bytes", c.name, took, n)
		}
	}
	reftest.Fails(t, reftest.Err(os.Stat(marker)), "", "a command was run")
}

// A link to itself, and names of shards that lead out of the folder.
func TestHostileFolders(t *testing.T) {
	for name, make := range map[string]func(dir string) error{
		"too many levels of symbolic links|too many links": func(dir string) error {
			return errors.Join(os.Symlink("b", filepath.Join(dir, "pytorch_model.bin")), os.Symlink("pytorch_model.bin", filepath.Join(dir, "b")))
		},
		"is not the name of a weights file": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "pytorch_model.bin.index.json"), []byte(`{"weight_map":{"a":"../pytorch_model-1.bin"}}`), 0o600)
		},
		"is not the name of a weights file (.safetensors)": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "model.safetensors.index.json"), []byte(`{"weight_map":{"a":"/etc/passwd"}}`), 0o600)
		},
		"at most 1024 are accepted": func(dir string) error {
			var b strings.Builder
			for i := range 2000 {
				fmt.Fprintf(&b, `,"%d":"%d.bin"`, i, i)
			}
			return os.WriteFile(filepath.Join(dir, "pytorch_model.bin.index.json"), []byte(`{"weight_map":{`+b.String()[1:]+`}}`), 0o600)
		},
	} {
		dir := t.TempDir()
		if err := errors.Join(os.WriteFile(filepath.Join(dir, "config.json"), []byte(tinyConfig), 0o600), make(dir)); err != nil {
			t.Skip(err)
		}
		_, err := checkpoint.Open(dir, "")
		want, other, _ := strings.Cut(name, "|")
		if other != "" && err != nil && strings.Contains(err.Error(), other) {
			continue
		}
		refuses(t, name, err, want)
	}
}

// directory finds the entries of an archive's directory.
func directory(b []byte) []int {
	var at []int
	for i := range b {
		if bytes.HasPrefix(b[i:], []byte("PK\x01\x02")) {
			at = append(at, i)
		}
	}
	return at
}

// forgedSize sets the uncompressed size of the last entry, which has 2 bytes, to 4 GB.
func forgedSize(b []byte) []byte {
	d := directory(b)
	binary.LittleEndian.PutUint32(b[d[len(d)-1]+24:], 0xfffffff0)
	return b
}

func elsewhere(b []byte) []byte {
	binary.LittleEndian.PutUint32(b[len(b)-6:], 0x7fffffff)
	return b
}

func bigDirectory() []byte {
	var entries []zipEntry
	for i := range 300 {
		entries = append(entries, zipEntry{name: fmt.Sprintf("%d/%s", i, strings.Repeat("x", 60_000))})
	}
	return zipOf(zip.Store, entries...)
}

// FuzzTorch checks that the tensors of accepted files are inside the file.
func FuzzTorch(f *testing.F) {
	var s pickleSaver
	x := checkpointtest.Tensor("a.weight", checkpoint.F32, []float32{1, 2, 3, 4, 5, 6}, 2, 3)
	state := s.StateDict(x)
	f.Add(s.Zip(state))
	f.Add(s.Legacy(state))
	f.Add(lightning([]checkpoint.Tensor{x, x, x, x, x}, []checkpoint.Tensor{x}, trainerConfig(true, nil)))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := checkpoint.FileOf(b)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("an error of several lines: %q", err)
			}
			return
		}
		for _, name := range file.Names() {
			x, ok := file.Tensor(name)
			if !ok || len(x.Data) != x.Len()*x.Dtype.Size() {
				t.Fatalf("tensor %q has %d bytes for %s %v", name, len(x.Data), x.Dtype, x.Shape)
			}
		}
	})
}
