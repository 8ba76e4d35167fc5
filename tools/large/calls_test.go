//go:build linux

package large

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"mdmgen/internal/orttest"
	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/ort"
	"mdmgen/samplers"
)

// calls measures a prompt's call and those of a few rows with it kept, the causal rows of speculation or those
// of a block, and what part of a call its products of matrices and its experts take.
func calls(t *testing.T, dir string) {
	const past, times, most = 512, 5, 32
	profile := t.TempDir()
	m, err := model.Open(t.Context(), dir, model.Options{Runtime: ort.Config{Threads: 2, Profile: profile}})
	orttest.Opened(t, m, err)
	net := m.(samplers.Keeper)
	call := samplers.Call{IDs: make([]int64, past+most), Counts: []int{1}, Kept: []samplers.Kept{net.Keep(past + most)}}
	for i := range call.IDs {
		call.IDs[i] = int64(1000 + i)
	}
	// ask computes rows from..to, of which all but those of the prompt are wanted.
	ask := func(from, to int) {
		call.Positions, call.Compute, call.Blocks = nil, nil, nil
		if spec := net.Spec(); spec.Causal {
			call.Blocks = []samplers.Span{{From: to, To: to}}
		}
		for l := from; l < to; l++ {
			call.Compute = append(call.Compute, int64(l))
		}
		if call.Positions = call.Compute; from == 0 {
			call.Positions = call.Compute[to-1:]
		}
		call.Counts[0] = len(call.Positions)
		reftest.Must(net.Logits(t.Context(), call))(t)
	}
	spans := []samplers.Span{{To: past}}
	for _, n := range []int{1, 4, 8, most} {
		spans = append(spans, samplers.Span{From: past, To: past + n})
	}
	var spent []time.Duration
	for _, s := range spans {
		ask(s.From, s.To)
		before := processor(t)
		for range times {
			ask(s.From, s.To)
		}
		spent = append(spent, (processor(t)-before)/times)
	}
	reftest.OK(t, m.Close())
	runs := reftest.Must(readRuns(profile))(t)
	for i, s := range spans {
		var weights, all, experts []float64
		for _, r := range runs[i*(times+1)+1 : (i+1)*(times+1)] {
			weights, all, experts = append(weights, r.all/r.products), append(all, r.all/(r.products+r.attention)), append(experts, r.experts/r.all)
		}
		slices.Sort(weights)
		slices.Sort(all)
		slices.Sort(experts)
		t.Logf("a call of %d rows behind %d: %.3f s of processors, %.3f of the time of its products with weights, %.3f of all; experts take %.2f of it",
			s.To-s.From, s.From, spent[i].Seconds(), weights[times/2], all[times/2], experts[times/2])
	}
}

// processor returns the processor time of the process.
func processor(t *testing.T) time.Duration {
	var u syscall.Rusage
	reftest.OK(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// run is the time of a call, in microseconds, of its products with weights, of the experts among them, and of
// attention's products.
type run struct{ all, products, experts, attention float64 }

// readRuns returns the calls of the only session whose profile is in a folder.
func readRuns(folder string) (runs []run, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "*", "*.json"))
	if err != nil {
		return nil, err
	}
	var events []struct {
		Name    string
		Ts, Dur float64
		Args    struct {
			Operator string `json:"op_name"`
		}
	}
	data, err := os.ReadFile(files[0])
	if err == nil {
		err = json.Unmarshal(data, &events)
	}
	var sum run
	for _, e := range events { // A call's own event is behind those of its nodes.
		switch {
		case e.Name == "model_run":
			sum.all = e.Dur
			runs, sum = append(runs, sum), run{}
		case !strings.HasSuffix(e.Name, "_kernel_time"):
		case strings.HasSuffix(e.Args.Operator, "MoE"):
			sum.products, sum.experts = sum.products+e.Dur, sum.experts+e.Dur
		case e.Args.Operator == "FusedMatMul":
			sum.attention += e.Dur
		case strings.Contains(e.Args.Operator, "MatMul"), e.Args.Operator == "Gemm":
			sum.products += e.Dur
		}
	}
	return runs, err
}
