package verify

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/checkpoint"
)

// TestGoldenWidened uses MDLM's log μ in float32, which has −1e6 in the column of MASK, where
// numbers are 0.0625 apart. Half of that is not a fault there, but is one anywhere else.
func TestGoldenWidened(t *testing.T) {
	m := &faulty{facts: model.Facts{Columns: 4, MaskID: 3, Length: 1}, rows: map[string][]float32{"[3]": {0.5, 1, -1, 2.4}}}
	path := filepath.Join(t.TempDir(), "golden.safetensors")
	check := func(change func(logMu []float32)) Item {
		t.Helper()
		row := append([]float32(nil), m.rows["[3]"]...)
		row[3] += suppressed
		norm := float32(math.Log(math.Exp(0.5) + math.Exp(1) + math.Exp(-1)))
		for a := range row {
			row[a] -= norm
		}
		change(row)
		header := fmt.Sprintf("%-152s", `{"input_ids.0":{"dtype":"I64","shape":[1,1],"data_offsets":[0,8]},"log_mu.0":{"dtype":"F32","shape":[1,1,4],"data_offsets":[8,24]}}`)
		data := append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...)
		data = binary.LittleEndian.AppendUint64(data, 3)
		for _, x := range row {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
		}
		reftest.OK(t, os.WriteFile(path, data, 0o600))
		return reftest.Must(Golden(t.Context(), m, path, 1e-4))(t).Items[0]
	}
	it := check(func([]float32) {})
	if w := it.Widened; !it.OK || w == nil || *w != (Widened{Count: 1, Dtype: checkpoint.F32, Spacing: 0.0625}) || !(it.MaxDiff < 1e-6) || !(it.MaxAbsDiff > 1e-3) {
		t.Errorf("as the public code computes it: %+v, %+v", it, it.Widened)
	}
	if it := check(func(x []float32) { x[3] += 0.125 }); it.OK {
		t.Errorf("two spacings away: %+v", it)
	}
	if it := check(func(x []float32) { x[1] += 3e-4 }); it.OK {
		t.Errorf("wrong where the numbers are dense: %+v", it)
	}
}

// TestSpacing compares values in the stored types of references.
func TestSpacing(t *testing.T) {
	for _, c := range []struct {
		dtype     checkpoint.Dtype
		got, want float64
		ok        bool
	}{
		{checkpoint.F32, -1e6 + 0.0625, -1e6, true}, {checkpoint.F32, -1e6 + 0.0627, -1e6, false}, {checkpoint.F64, -1e6 + 0.03, -1e6, false}, {"", -1e6 + 0.03, -1e6, false},
		{checkpoint.F32, 1 + 2e-4, 1, false}, {checkpoint.F16, 1 + 1e-3, 1, true}, {checkpoint.F16, 1 + 11e-4, 1, false}, {checkpoint.BF16, 1 + 7e-3, 1, true},
		{checkpoint.F32, math.NaN(), -1e6, false}, {checkpoint.F32, -1e6, math.Inf(-1), false}, {checkpoint.F16, 1e-3, 0, false},
	} {
		cmp := NewComparison("x", Absolute, 1e-4)
		cmp.dtype = c.dtype
		cmp.Add(c.got, c.want, func() string { return "x" })
		if it, _ := cmp.Finish(); it.OK != c.ok || c.ok != (it.Widened != nil) {
			t.Errorf("%v beside %v in %s: %+v", c.got, c.want, c.dtype, it)
		}
	}
}
