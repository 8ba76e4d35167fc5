package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/dustin/go-humanize"

	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/report"
	"mdmgen/analysis/verify"
	"mdmgen/model"
	"mdmgen/model/checkpoint"
	"mdmgen/model/checkpoint/checkpointtest"
	"mdmgen/model/graph"
	"mdmgen/model/ort"
	"mdmgen/samplers"
)

// owt is the shape of the published mdlm-owt, 169,627,218 parameters.
const owt = `{"model_type": "mdlm", "architectures": ["MDLM"], "hidden_dim": 768, "n_blocks": 12, "n_heads": 12, "cond_dim": 128,
	"model_length": 1024, "vocab_size": 50258, "dropout": 0.1, "time_conditioning": false, "return_dict": false}`

// dtypeCosts tells what each type of weights costs the built-in network.
func dtypeCosts(ctx context.Context, reference network) ([]report.Plot, []byte, error) {
	ids, err := tale()
	if err != nil {
		return nil, nil, err
	}
	var windows []likelihood.Target
	for piece := range slices.Chunk(ids, reference.Facts().Length) {
		windows = append(windows, likelihood.Whole(piece))
	}
	var b bytes.Buffer
	fmt.Fprintln(&b, "| dtype | mean KL of μ, nats per token | greatest KL | same top token | change of the NELBO, nats per token | TV of the laws of 8 tokens |\n| --- | --- | --- | --- | --- | --- |")
	for _, d := range graph.Dtypes()[1:] {
		m, err := openAs(ctx, d)
		if err != nil {
			return nil, nil, err
		}
		x, err := verify.Against(ctx, m, reference.Model, windows, verify.AgainstConfig{Seed: seed, Draws: 32, LawTexts: 100})
		if cerr := m.Close(); cmp.Or(err, cerr) != nil {
			return nil, nil, cmp.Or(err, cerr)
		}
		fmt.Fprintf(&b, "| %s | %s ± %s | %s | %.2f %% | %s ± %s | %s ± %s |\n", d, number(x.All.KL.Mean), number(x.All.KL.Hi-x.All.KL.Mean), number(float64(x.All.Greatest)), 100*x.All.Agreement.Mean,
			number(x.NELBO.Change.Mean), number(x.NELBO.Change.Hi-x.NELBO.Change.Mean), number(x.Laws.TV.Mean), number(x.Laws.TV.Hi-x.Laws.TV.Mean))
	}
	return nil, b.Bytes(), nil
}

// turn is what a process of its own measured on a model: seconds of a processor, which other
// programs on the machine do not add to, and bytes.
type turn struct {
	Open   float64 `json:"open"`
	Call   float64 `json:"call"`
	Memory int64   `json:"memory"`
}

// dtypeSpeeds times the shape of mdlm-owt with random weights, one position wanted, in processes of
// their own that take turns.
func dtypeSpeeds(ctx context.Context, _ network) ([]report.Plot, []byte, error) {
	dir, err := os.MkdirTemp("", "mdmgen-precision")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	c, err := checkpoint.OpenFS(checkpointtest.Folder(owt, "", checkpoint.F32, seed), "owt")
	if err != nil {
		return nil, nil, err
	}
	for _, d := range graph.Dtypes() {
		if err := graph.Write(ctx, c, graph.Options{Dtype: d}, filepath.Join(dir, string(d))); err != nil {
			return nil, nil, err
		}
	}
	if err := c.Close(); err != nil {
		return nil, nil, err
	}
	turns := map[graph.Dtype][]turn{}
	for range 3 {
		for _, d := range graph.Dtypes() {
			t, err := inProcess(ctx, filepath.Join(dir, string(d)))
			if err != nil {
				return nil, nil, err
			}
			fmt.Fprintf(os.Stderr, "%s: %+v\n", d, t)
			turns[d] = append(turns[d], t)
		}
	}
	var b bytes.Buffer
	fmt.Fprintln(&b, "| dtype | seconds a call, one thread | speed | seconds to open | peak of memory | disk |\n| --- | --- | --- | --- | --- | --- |")
	var first float64
	for _, d := range graph.Dtypes() {
		var calls, opens []float64
		var memory, disk int64
		for _, t := range turns[d] {
			calls, opens, memory = append(calls, t.Call), append(opens, t.Open), max(memory, t.Memory)
		}
		for _, name := range []string{graph.ModelFile, graph.DataFile} {
			info, err := os.Stat(filepath.Join(dir, string(d), name))
			if err != nil {
				return nil, nil, err
			}
			disk += info.Size()
		}
		// The least is what the machine can do: caches that others fill only add to it.
		call := slices.Min(calls)
		first = cmp.Or(first, call)
		fmt.Fprintf(&b, "| %s | %s | × %.2f | %s | %s | %s |\n", d, number(call), first/call, number(slices.Min(opens)), humanize.IBytes(uint64(memory)), humanize.IBytes(uint64(disk)))
	}
	return nil, b.Bytes(), nil
}

// inProcess runs this program for one turn.
func inProcess(ctx context.Context, folder string) (t turn, err error) {
	self, err := os.Executable()
	if err != nil {
		return t, err
	}
	cmd := exec.CommandContext(ctx, self, turnCommand, folder)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &t)
	}
	return t, err
}

// turnCommand is the argument of the process of a turn; the next is a model's folder.
const turnCommand = "turn"

// takeTurn opens a model for one thread, makes a call that is not counted and some that are.
func takeTurn(ctx context.Context, w io.Writer, ref string) error {
	m, err := model.Open(ctx, ref, model.Options{Runtime: ort.Config{Threads: 1}})
	if err != nil {
		return err
	}
	defer m.Close()
	opened, err := processor()
	if err != nil {
		return err
	}
	f := m.Facts()
	ids := make([]int64, f.Length)
	for i := range ids {
		if ids[i] = int64(i * 7919 % f.MaskID); i%2 == 0 {
			ids[i] = int64(f.MaskID)
		}
	}
	const calls = 4
	var begin float64
	for i := range calls + 1 {
		if i == 1 {
			if begin, err = processor(); err != nil {
				return err
			}
		}
		if _, err := m.Logits(ctx, samplers.Call{IDs: ids, Positions: []int64{0}, Counts: []int{1}}); err != nil {
			return err
		}
	}
	end, err := processor()
	if err != nil {
		return err
	}
	t := turn{Open: opened, Call: (end - begin) / calls}
	if t.Memory, err = peak(); err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(t)
}

// processor is how many seconds of a processor this process has had, by Linux.
func processor() (float64, error) {
	data, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, err
	}
	// After the name in brackets; utime and stime are the fields 14 and 15 in all, in hundredths.
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	user, err := strconv.Atoi(string(fields[11]))
	if err != nil {
		return 0, err
	}
	system, err := strconv.Atoi(string(fields[12]))
	return float64(user+system) / 100, err
}

// peak is the greatest memory that this process has had, in bytes, by Linux.
func peak() (int64, error) {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, rest, _ := bytes.Cut(data, []byte("VmHWM:"))
	kib, _, _ := bytes.Cut(bytes.TrimSpace(rest), []byte(" "))
	n, err := strconv.ParseInt(string(kib), 10, 64)
	return n << 10, err
}
