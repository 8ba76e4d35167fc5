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
// of a block, and what part of a call its products of matrices and its experts take. A profile makes small
// calls up to a third slower, so seconds are those without one.
func calls(t *testing.T, dir string) {
	const past, times = 512, 5
	spans := []samplers.Span{{To: past}}
	for _, n := range []int{1, 4, 8, 32} {
		spans = append(spans, samplers.Span{From: past, To: past + n})
	}
	profile := t.TempDir()
	spent := spentIn(t, dir, "", spans, times)
	spentIn(t, dir, profile, spans, times)
	runs := reftest.Must(readRuns(profile))(t)
	for i, s := range spans {
		var weights, all, experts []float64
		for _, r := range runs[i*(times+1)+1 : (i+1)*(times+1)] {
			weights, all, experts = append(weights, r.products/r.all), append(all, (r.products+r.attention)/r.all), append(experts, r.experts/r.all)
		}
		slices.Sort(weights)
		slices.Sort(all)
		slices.Sort(experts)
		t.Logf("a call of %d rows behind %d: %.4f s of processors; in the profile products with weights take %.2f of it, all products %.2f, experts %.2f",
			s.To-s.From, s.From, spent[i].Seconds(), weights[times/2], all[times/2], experts[times/2])
	}
}

// spentIn returns the mean processor time of a call that computes the positions of each span behind those of
// the one before it; the first call of each is not counted. All rows are wanted but those of a prompt.
func spentIn(t *testing.T, dir, profile string, spans []samplers.Span, times int) (spent []time.Duration) {
	m, err := model.Open(t.Context(), dir, model.Options{Runtime: ort.Config{Threads: 2, Profile: profile}})
	orttest.Opened(t, m, err)
	net, end := m.(samplers.Keeper), spans[len(spans)-1].To
	call := samplers.Call{IDs: make([]int64, end), Counts: []int{1}, Kept: []samplers.Kept{net.Keep(end)}}
	for i := range call.IDs {
		call.IDs[i] = int64(1000 + i)
	}
	for _, s := range spans {
		call.Compute, call.Blocks = nil, nil
		if net.Spec().Causal {
			call.Blocks = []samplers.Span{{From: s.To, To: s.To}}
		}
		for l := s.From; l < s.To; l++ {
			call.Compute = append(call.Compute, int64(l))
		}
		if call.Positions = call.Compute; s.From == 0 {
			call.Positions = call.Compute[s.To-1:]
		}
		call.Counts[0] = len(call.Positions)
		var before time.Duration
		for i := range times + 1 {
			reftest.Must(net.Logits(t.Context(), call))(t)
			if i == 0 {
				before = processor(t)
			}
		}
		spent = append(spent, (processor(t)-before)/time.Duration(times))
	}
	reftest.OK(t, m.Close())
	return spent
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
