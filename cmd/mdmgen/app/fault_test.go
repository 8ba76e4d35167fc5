package app

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mdmgen/cmd/mdmgen/internal/generate"
	"mdmgen/internal/exit"
	"mdmgen/internal/reftest"
)

// brokenToken copies a small checkpoint and sets the embedding of one token to +Inf: a canvas with
// that token has NaN rows.
func brokenToken(t *testing.T, token int) string {
	t.Helper()
	from, to := tinyModel, t.TempDir()
	for _, name := range []string{"config.json", "model.safetensors"} {
		b := []byte(readAll(t, filepath.Join(from, name)))
		if name == "model.safetensors" {
			n := binary.LittleEndian.Uint64(b)
			var header map[string]struct {
				Shape   []int `json:"shape"`
				Offsets []int `json:"data_offsets"`
			}
			reftest.OK(t, json.Unmarshal(b[8:8+n], &header))
			broken := false
			for name, tensor := range header {
				if strings.HasSuffix(name, "vocab_embed.embedding") {
					row := (tensor.Offsets[1] - tensor.Offsets[0]) / tensor.Shape[0]
					at := 8 + int(n) + tensor.Offsets[0] + token*row
					for i := range row {
						b[at+i] = "\x00\x00\x80\x7f"[i%4]
					}
					broken = true
				}
			}
			if !broken {
				t.Fatal("no embedding")
			}
		}
		writeFile(t, filepath.Join(to, name), string(b))
	}
	return to
}

// TestOneFaultySample checks that of three lines of input, of which the second cannot be sampled,
// the others are sampled at any batch size, and that the record names the fault.
func TestOneFaultySample(t *testing.T) {
	t.Parallel()
	needRuntime(t)
	dir := brokenToken(t, 5)
	lines := `{"ids":[1,null,null]}` + "\n" + `{"ids":[5,null,null]}` + "\n" + `{"ids":[2,null,null]}` + "\n"
	for _, batch := range []string{"1", "3"} {
		file := filepath.Join(t.TempDir(), "out.json")
		_, stderr, code := runCommand(t, lines, "generate", "--model", dir, "--input", "-", "--format", "json", "--seed", "1", "--batch", batch, "-o", file)
		part := strings.TrimSuffix(file, ".json") + ".partial.json"
		var record generate.Record
		if err := json.Unmarshal([]byte(readAll(t, part)), &record); err != nil {
			t.Fatalf("batch %s: %v: %q", batch, err, stderr)
		}
		if code != exit.Failure || len(record.Samples) != 2 || record.Samples[1].Index != 2 {
			t.Errorf("batch %s: exit %d, %d samples", batch, code, len(record.Samples))
		}
		if len(record.Faults) != 1 || record.Faults[0].Index != 1 || record.Faults[0].Line != 2 || !strings.Contains(record.Faults[0].Error, "NaN") {
			t.Errorf("batch %s: faults %+v", batch, record.Faults)
		}
		if want := "mdmgen: incomplete results are in " + part + "\nmdmgen: generate: 1 of 3 samples failed: sequence 1: position 1: its row has no softmax: a logit is NaN or +Inf, or all are −Inf\n"; stderr != want {
			t.Errorf("batch %s: %q, want %q", batch, stderr, want)
		}
		reftest.Fails(t, reftest.Err(os.Stat(file)), "", "batch", batch, "a file is made of a part")
	}
}

// TestFailingCells checks that a failing cell is recorded with its reason, the report is printed,
// and the status is 1. Here all cells fail: MASK itself has NaN rows.
func TestFailingCells(t *testing.T) {
	t.Parallel()
	needRuntime(t)
	dir := brokenToken(t, 130)
	args := []string{"bench", "--model", dir, "--length", "4", "--case", "fhs", "--case", "parallel-fhs steps=2", "-n", "1", "-r", "2", "--seed", "1"}
	stdout, stderr, code := runCommand(t, "", args...)
	if code != exit.Failure || !strings.Contains(stdout, "\nfhs length=4 threads=1 failed: ") || !strings.Contains(stdout, "| parallel-fhs |") || !strings.Contains(stdout, "Incomplete") {
		t.Errorf("status %d:\n%s", code, stdout)
	}
	if strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "bench: fhs length=4 threads=1 failed: ") || !strings.HasSuffix(stderr, " (and 1 more, named in the results)\n") {
		t.Errorf("%s", stderr)
	}
	stdout, _, code = runCommand(t, "", append(args, "--json")...)
	var report struct{ Cells []struct{ Failed string } }
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || code != exit.Failure || len(report.Cells) != 2 || report.Cells[1].Failed == "" {
		t.Errorf("status %d, %v: %+v", code, err, report)
	}
}
