package app

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"mdmgen/internal/exit"
	"mdmgen/internal/reftest"
	"mdmgen/internal/sysinfo"
	"mdmgen/model/checkpoint"
)

// TestConvertAtOnce checks that one of several concurrent conversions into one folder succeeds, and
// that each of the others says so in one line.
func TestConvertAtOnce(t *testing.T) {
	t.Parallel()
	for range 5 {
		dir := t.TempDir()
		out := filepath.Join(dir, "out")
		var wait sync.WaitGroup
		codes := make([]int, 6)
		for i := range codes {
			wait.Go(func() {
				from := filepath.Join("..", "..", "..", "testdata", "reference", "checkpoints", []string{"mdlm", "radd", "sedd"}[i%3])
				cmd := exec.Command("mdmgen", "convert", from, "-o", out)
				var stderr strings.Builder
				cmd.Stderr = &stderr
				err := cmd.Run()
				if cmd.ProcessState == nil {
					t.Error(err)
					codes[i] = -1
					return
				}
				if codes[i] = cmd.ProcessState.ExitCode(); codes[i] != exit.OK && (codes[i] == exit.Interrupt || strings.Count(stderr.String(), "\n") != 1) {
					t.Errorf("exit status %d, %q", codes[i], stderr.String())
				}
			})
		}
		wait.Wait()
		written := 0
		for _, code := range codes {
			if code == exit.OK {
				written++
			}
		}
		entries, err := os.ReadDir(dir)
		if written != 1 || err != nil || len(entries) != 1 {
			t.Fatalf("exit statuses %v; the folder above holds %v, %v", codes, entries, err)
		}
		mustRun(t, "", "doctor", "--model", out)
	}
}

// TestConvertRecord checks that the record agrees with the printed line.
func TestConvertRecord(t *testing.T) {
	t.Parallel()
	bytes := 0
	for _, dtype := range []string{"fp32", "fp16", "int8", "int4"} {
		out := filepath.Join(t.TempDir(), "out")
		var record struct {
			Schema, Folder, Family, Dtype string
			Parameters, Bytes             int
		}
		reftest.OK(t, json.Unmarshal([]byte(mustRun(t, "", "convert", tinyModel, "-o", out, "--json", "--dtype", dtype)), &record))
		if record.Schema != "mdmgen.convert/1" || record.Folder != out || record.Family != "mdlm" || record.Parameters < 1000 || record.Bytes < record.Parameters || record.Dtype != dtype {
			t.Errorf("%+v", record)
		}
		if dtype == "fp32" {
			bytes = record.Bytes
		} else if record.Bytes >= bytes {
			t.Errorf("%s: %d bytes, and %d as fp32", dtype, record.Bytes, bytes)
		}
	}
}

// TestConvertNoRoom checks that a model too large for the disk is rejected before 1 TB of weights
// is read, in one line with the required size, and that no files remain.
func TestConvertNoRoom(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	free, known := sysinfo.Disk(dir)
	if !known || free > 1<<40 {
		t.Skip("the room on this disk is unknown, or enough")
	}
	from := filepath.Join(dir, "from")
	reftest.OK(t, os.Mkdir(from, 0o777))
	config := `{"architectures":["LLaDAModelLM"],"d_model":32768,"n_layers":1,"n_heads":32,"mlp_hidden_size":64,"max_sequence_length":64,"vocab_size":4194304,
		"mask_token_id":1,"rope_theta":5e5,"weight_tying":false,"block_type":"llama","layer_norm_type":"rms","activation_type":"silu","rope":true}`
	writeFile(t, filepath.Join(from, "config.json"), config)
	if err := sparseWeights(filepath.Join(from, "model.safetensors"), config); err != nil {
		t.Skip("no such large files here: ", err)
	}
	out := filepath.Join(dir, "out")
	begin := time.Now()
	_, stderr, code := runCommand(t, "", "convert", from, "-o", out)
	if took := time.Since(begin); code != exit.Failure || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "needs 1.1 TB of disk space, and ") || !strings.Contains(stderr, "--force") || took > 5*time.Second {
		t.Errorf("exit status %d after %v: %s", code, took, stderr)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("it left %v, %v", left, err)
	}
}

// sparseWeights writes a file of bf16 zeros that takes no disk space.
func sparseWeights(path, config string) error {
	c, err := checkpoint.ParseConfig([]byte(config))
	if err != nil {
		return err
	}
	header, at := map[string]any{}, int64(0)
	for s := range c.Tensors() {
		size := int64(2)
		for _, d := range s.Shape {
			size *= int64(d)
		}
		header[s.Name] = map[string]any{"dtype": "BF16", "shape": s.Shape, "data_offsets": [2]int64{at, at + size}}
		at += size
	}
	text, err := json.Marshal(header)
	if err != nil {
		return err
	}
	head := append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)
	if err := os.WriteFile(path, head, 0o666); err != nil {
		return err
	}
	return os.Truncate(path, int64(len(head))+at)
}

// TestConvertMemory checks that the weights of a checkpoint are never in memory together.
func TestConvertMemory(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("the peak of memory is unknown here: ", err)
	}
	const config = `{"architectures":["LLaDAModelLM"],"d_model":2048,"n_layers":1,"n_heads":16,"mlp_hidden_size":2048,"max_sequence_length":64,"vocab_size":16384,
		"mask_token_id":1,"rope_theta":5e5,"weight_tying":false,"block_type":"llama","layer_norm_type":"rms","activation_type":"silu","rope":true}`
	dir := t.TempDir()
	from, peak := filepath.Join(dir, "from"), filepath.Join(dir, "peak")
	reftest.OK(t, os.Mkdir(from, 0o777))
	writeFile(t, filepath.Join(from, "config.json"), config)
	reftest.OK(t, sparseWeights(filepath.Join(from, "model.safetensors"), config))
	cmd := exec.Command("mdmgen", "convert", from, "-o", filepath.Join(dir, "out"), "--dtype", "fp16")
	cmd.Env = append(os.Environ(), peakFile+"="+peak)
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	var kib int64
	reftest.Must(fmt.Sscan(readAll(t, peak), &kib))(t)
	if kib < 10<<10 || kib > 100<<10 {
		t.Errorf("%d MiB for a checkpoint of 168", kib>>10)
	}
}
