package bench

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"mdmgen/analysis/estimate"
	"mdmgen/internal/fault"
	"mdmgen/internal/sysinfo"
	"mdmgen/model"
	"mdmgen/samplers"
	"mdmgen/samplers/cache"
	"mdmgen/samplers/catalog"
)

// Cell is a setting that is ready to run.
type Cell struct {
	ID      string
	Setting Setting
	Sampler *catalog.Sampler
	// Model is used by one repetition at a time; cells may share it.
	Model model.Model
	// Canvas is the initial canvas of sequences, Free the number of its free positions.
	Canvas []int
	Free   int
	// Batch is the greatest number of sequences in a call.
	Batch    int
	Expected Expected
}

// NewCell returns the cell of a setting and an open model. batch is used if the setting has none.
func NewCell(s Setting, m model.Model, canvas []int, batch int) (Cell, error) {
	spec := m.Spec()
	sampler, err := catalog.New(s.Options, spec)
	if err != nil {
		return Cell{}, err
	}
	if sampler.Settings().Cache != "" {
		if err := cache.Check(m); err != nil {
			return Cell{}, err
		}
	}
	c := Cell{ID: s.ID(), Setting: s, Sampler: sampler, Model: m, Canvas: canvas, Free: len(spec.Masked(canvas)), Batch: cmp.Or(s.Batch, batch)}
	calls, finish, err := sampler.ExpectedCalls(c.Free)
	c.Expected = Expected{estimate.Number(calls), estimate.Number(finish)}
	return c, err
}

// shape identifies what a network is warmed up for.
func (c *Cell) shape() [3]int { return [3]int{c.Setting.Threads, len(c.Canvas), c.Batch} }

// cost estimates the positions computed for a sequence, to order cells by.
func (c *Cell) cost() float64 {
	calls := c.Expected.All()
	if math.IsNaN(calls) {
		calls = float64(c.Free)
	}
	return calls * float64(len(c.Canvas))
}

// Config configures a run.
type Config struct {
	// Repetitions is the number of rounds: each samples Sequences sequences of every cell. Sequence
	// i of round r uses the stream (Seed, r·Sequences + i) in all cells, so that cells do not
	// differ by luck.
	Repetitions, Sequences int
	// Warmup is the number of unrecorded batches sampled before the first repetition of each number
	// of threads, length and batch.
	Warmup int
	Seed   uint64
	// Deadline ends the run; zero means none. A repetition starts only if its predicted time fits
	// in the time left, and is abandoned at the deadline. The first round then takes the cells with
	// the fewest calls first, so that as many cells as possible have a repetition.
	Deadline time.Time
	// Done are repetitions finished by an earlier run; they are not repeated.
	Done []Repetition
	// OnRepetition is called with each repetition as it finishes; an error ends the run.
	OnRepetition func(Repetition) error
	// Failed, if not nil, receives the error of each cell that fails. Cells in it are not run, from
	// the start or from their failure on. If it is nil, an error ends the run.
	Failed map[string]error
	// Keep stores the ids of sequences in repetitions.
	Keep bool
	// KeepBytes bounds the memory of keys and values ([samplers.Config]).
	KeepBytes int64
}

// runner is the state of a run.
type runner struct {
	cfg  Config
	done map[string]map[int]bool
	// worst holds the duration of each cell's longest repetition, in seconds: the prediction for
	// the next.
	worst map[string]float64
	// warm holds the threads, lengths and batches that were warmed up.
	warm map[[3]int]bool
}

// Order returns the order of n cells in a round.
func Order(seed uint64, round, n int) []int {
	return rand.New(rand.NewPCG(seed, uint64(round))).Perm(n)
}

// Run samples repetitions of cells round by round, in an order that depends on the seed and the
// round, until all are done or the deadline passes. If ctx ends the run, its error is returned.
func Run(ctx context.Context, cells []Cell, cfg Config) error {
	if cfg.Repetitions < 1 || cfg.Sequences < 1 || cfg.Warmup < 0 {
		return fault.Errorf("bench", "%d repetitions of %d sequences, %d to warm up: must be at least 1, 1 and 0", cfg.Repetitions, cfg.Sequences, cfg.Warmup)
	}
	r := &runner{cfg: cfg, done: make(map[string]map[int]bool), worst: make(map[string]float64), warm: make(map[[3]int]bool)}
	for _, d := range cfg.Done {
		if r.done[d.Cell] == nil {
			r.done[d.Cell] = make(map[int]bool)
		}
		r.done[d.Cell][d.Round] = true
		r.worst[d.Cell] = max(r.worst[d.Cell], d.Seconds.Total)
	}
	limited := ctx
	if !cfg.Deadline.IsZero() {
		var cancel context.CancelFunc
		limited, cancel = context.WithDeadline(ctx, cfg.Deadline)
		defer cancel()
	}
	for round := range cfg.Repetitions {
		order := Order(cfg.Seed, round, len(cells))
		if round == 0 && !cfg.Deadline.IsZero() {
			slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(cells[i].cost(), cells[j].cost()) })
		}
		for _, i := range order {
			c := &cells[i]
			if r.done[c.ID][round] || cfg.Failed[c.ID] != nil {
				continue
			}
			rep, err := r.repeat(limited, c, round)
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case errors.Is(err, context.DeadlineExceeded):
			case err != nil && cfg.Failed == nil:
				return fault.Errorf("bench", "%s: %w", c.ID, err)
			case err != nil:
				cfg.Failed[c.ID] = err
			case rep != nil && cfg.OnRepetition != nil:
				if err := cfg.OnRepetition(*rep); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// repeat runs one repetition of a cell. It returns nil if that does not fit in the time left.
func (r *runner) repeat(ctx context.Context, c *Cell, round int) (*Repetition, error) {
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline).Seconds()
		if left <= 0 || r.worst[c.ID] > left {
			return nil, nil
		}
	}
	if warm := c.shape(); !r.warm[warm] {
		for i := range r.cfg.Warmup {
			// Warm-ups use streams of their own, far from those of every round.
			if _, err := sample(ctx, c, r.cfg, 1<<62+uint64(i*c.Batch), min(c.Batch, r.cfg.Sequences)); err != nil {
				return nil, err
			}
		}
		r.warm[warm] = true
	}
	reset := sysinfo.ResetPeak()
	rep, err := sample(ctx, c, r.cfg, uint64(round)*uint64(r.cfg.Sequences), r.cfg.Sequences)
	if err != nil {
		return nil, err
	}
	rep.PeakBytes, rep.PeakOfProcess = sysinfo.PeakMemory(), !reset
	rep.Cell, rep.Round = c.ID, round
	r.worst[c.ID] = max(r.worst[c.ID], rep.Seconds.Total)
	return &rep, nil
}

// sample draws sequences, counts them and measures the time.
func sample(ctx context.Context, c *Cell, cfg Config, first uint64, n int) (Repetition, error) {
	rep := Repetition{Kind: KindRepetition}
	if cfg.Keep {
		rep.IDs = make([][]int, n)
	}
	begin := time.Now()
	totals, err := samplers.Sample(ctx, c.Model, samplers.Copies(c.Canvas, first, n), samplers.Config{
		Method: c.Sampler, Seed: cfg.Seed, Batch: c.Batch, Keep: cfg.KeepBytes, OnStep: func(s samplers.Step) { rep.Tokens += s.Filled },
	}, func(res samplers.Result) error {
		rep.add(res, first)
		return nil
	})
	total := time.Since(begin)
	if err != nil {
		if failed := (*samplers.SequenceError)(nil); errors.As(err, &failed) {
			err = failed.Err // The caller names the cell; nobody else uses the numbers of streams.
		}
		return Repetition{}, err
	}
	rep.NetworkCalls, rep.Rows, rep.Positions = totals.NetworkCalls, totals.Rows, totals.Positions
	rep.Seconds = Seconds{Network: totals.Network.Seconds(), Sampling: totals.Sampling.Seconds(), Rest: (total - totals.Network - totals.Sampling).Seconds(), Total: total.Seconds()}
	return rep, nil
}
