package bench_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"mdmgen/analysis/bench"
	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// TestCompared checks that the default settings to compare differ pairwise, and that Euler's
// default grid gives way to a requested one.
func TestCompared(t *testing.T) {
	none := func(string) bool { return false }
	settings, err := bench.Cross(bench.Compared(none), []bench.Axis{{Key: "steps", Values: "4,8"}})
	if err != nil || len(settings) != 8 || settings[7].ID() != "euler grid=paper noise=exp steps=8" {
		t.Fatalf("%d settings, %v", len(settings), err)
	}
	var made [][]float64 // the probabilities of steps
	for _, s := range settings {
		one := reftest.Must(catalog.New(s.Options, samplers.Spec{Noise: "loglinear"}))(t)
		steps, _ := one.Grid()
		row := append([]float64{float64(s.Options.Steps)}, steps.Reveal...)
		if steps.Reveal != nil && slices.ContainsFunc(made, func(other []float64) bool { return slices.Equal(row, other) }) {
			t.Errorf("%s is the same as another", one)
		}
		made = append(made, row)
	}
	if got := bench.Compared(func(key string) bool { return key == "grid" }); !slices.Contains(got, "euler noise=exp") {
		t.Errorf("with --grid: %q", got)
	}
	settings, err = bench.Cross([]string{"euler grid=paper", "tweedie"}, []bench.Axis{{Key: "grid", Values: "lambda"}, {Key: "steps", Values: "4"}})
	if err != nil || settings[0].Options.Grid != "paper" || settings[1].Options.Grid != "lambda" {
		t.Errorf("%+v, %v", settings, err)
	}
	for _, bad := range []string{"", "euler grid", "euler colour=red", "euler grid=", "euler finish=maybe"} {
		reftest.FailsInLine(t, reftest.Err(bench.Cross([]string{bad}, nil)), "", bad)
	}
}

// broken is a network that fails.
type broken struct{ model.Model }

func (broken) Logits(context.Context, samplers.Call) ([]float32, error) {
	return nil, errors.New("no rows today")
}

// TestFailingCell checks that a failing cell fails alone and once.
func TestFailingCell(t *testing.T) {
	list := cells(t, open(t, "xor3-mixed"), "fhs", "tweedie steps=2", "tweedie steps=4")
	list[1].Model = broken{list[1].Model}
	cfg := bench.Config{Repetitions: 3, Sequences: 2, Seed: 1, Failed: make(map[string]error)}
	reps, complete, err := run(context.Background(), list, cfg)
	if err != nil || complete || len(reps) != 6 || len(cfg.Failed) != 1 || !strings.Contains(cfg.Failed[list[1].ID].Error(), "no rows today") {
		t.Errorf("%d repetitions, complete %v, %v, failed %v", len(reps), complete, err, cfg.Failed)
	}
	cfg.Failed = nil
	if _, _, err := run(context.Background(), list, cfg); err == nil || !strings.Contains(err.Error(), "tweedie steps=2") {
		t.Error(err)
	}
}
