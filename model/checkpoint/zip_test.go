package checkpoint_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/fstest"

	"mdmgen/internal/checkpointtest"
	"mdmgen/model/checkpoint"
)

// A torch file with a changed byte is refused, or is the same network: its archive also has bytes
// that say nothing, such as times.
func TestDamagedArchive(t *testing.T) {
	t.Parallel()
	f := checkpointtest.Folder(tinyConfig, "backbone.", checkpoint.F32, 1)
	var s pickleSaver
	whole := s.Zip(s.StateDict(tensorsOf(t, f)...))
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
