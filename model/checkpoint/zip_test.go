package checkpoint_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"testing"
	"testing/fstest"

	"mdmgen/internal/checkpointtest"
	"mdmgen/model/checkpoint"
)

// pieces is a file system whose files are read 700 bytes at a time.
type pieces struct{ fs.FS }

func (p pieces) Open(name string) (fs.File, error) {
	f, err := p.FS.Open(name)
	if _, folder := f.(fs.ReadDirFile); err != nil || folder {
		return f, err
	}
	return piece{f}, nil
}

type piece struct{ fs.File }

func (p piece) Read(b []byte) (int, error) { return p.File.Read(b[:min(len(b), 700)]) }

// A torch file with a changed byte is refused, or is the same network: its archive also has bytes
// that say nothing, such as times.
func TestDamagedArchive(t *testing.T) {
	t.Parallel()
	f := checkpointtest.Folder(tinyConfig, "backbone.", checkpoint.F32, 1)
	var s pickleSaver
	whole := s.Zip(s.StateDict(tensorsOf(t, f)...))
	var read int64
	c, err := checkpoint.OpenFS(pieces{fstest.MapFS{"config.json": f["config.json"], "pytorch_model.bin": {Data: whole}}}, "tiny")
	if err == nil {
		c.Progress = func(n int64) { read += n }
		_, err = c.Facts(t.Context())
	}
	want := int64(len(f["config.json"].Data) + len(whole))
	for _, x := range tensorsOf(t, f) {
		want += int64(len(x.Data))
	}
	if err != nil || read != want || c.Reading() != want-int64(len(f["config.json"].Data)) {
		t.Errorf("the whole file: %v; %d bytes read, want %d: the file once and its parameters", err, read, want)
	}
	refused, r := 0, rand.New(rand.NewPCG(1, 2))
	const flips = 200
	for range flips {
		data := bytes.Clone(whole)
		at, bit := r.IntN(len(data)), r.IntN(8)
		data[at] ^= 1 << bit
		c, err := checkpoint.OpenFS(fstest.MapFS{"config.json": f["config.json"], "pytorch_model.bin": {Data: data}}, "tiny")
		if err == nil {
			_, err = c.Facts(t.Context())
		}
		if err != nil {
			refused++
		} else if !t.Run(fmt.Sprintf("bit %d of byte %d of %d", bit, at, len(data)), func(t *testing.T) { sameTensors(t, "changed", c, inMemory(t, f)) }) {
			return
		}
	}
	if refused < flips*3/4 {
		t.Errorf("%d of %d changes are refused", refused, flips)
	}
}
