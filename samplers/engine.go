package samplers

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"
)

// Network is what a sampler needs of a model: the rows at wanted positions of some
// canvases.
type Network interface {
	// Logits is one call. ids [rows·L] are canvases, positions [rows·K] the wanted
	// positions, K ≥ 1, both row-major; sigma [rows] is −log α of each row, nil
	// unless the network is time-conditioned. It returns [rows·K·columns] values,
	// row-major, that the caller must not keep beyond the next call. It is not safe
	// for concurrent use.
	Logits(ctx context.Context, rows int, ids, positions []int64, sigma []float64) ([]float32, error)
}

// AcceptsInfiniteSigma says whether a network has rows at σ = +Inf, that is on the
// canvas where everything is masked at T = ∞. It has them if it has a method
// InfiniteSigma() bool that says so.
func AcceptsInfiniteSigma(n Network) bool {
	u, ok := n.(interface{ InfiniteSigma() bool })
	return ok && u.InfiniteSigma()
}

// Sequence is a canvas to be filled.
type Sequence struct {
	// Index names the sequence: with the seed it determines its random stream.
	Index uint64
	// Canvas holds ids, MASK at the positions to be sampled. It is not changed, and
	// several sequences may share it.
	Canvas []int
}

// Result is a finished sequence.
type Result struct {
	Index uint64
	// IDs is the canvas, filled; MASK where a position was left masked. It belongs to
	// the receiver.
	IDs []int
	// Calls counts the sequence's network calls but for FinishCalls, 0 or 1, the call that
	// filled what they left.
	Calls, FinishCalls int
	// Left counts positions that are still masked.
	Left int
	// Events is that of the sequence's plan.
	Events int
}

// Fill is what one call did to one sequence.
type Fill struct {
	Index uint64
	// Block is the block that was filled and Tokens are its tokens, in its order. For
	// the finishing call Finish is set, and Block holds the positions that were left.
	Block  Block
	Tokens []int
	Finish bool
}

// Call is one call of the network, after its tokens were drawn.
type Call struct {
	// Rows is the batch, Length the canvas, Wanted the positions a row.
	Rows, Length, Wanted int
	// Tokens counts the tokens that were drawn, Finished the sequences that ended.
	Tokens, Finished int
}

// Config says how sequences are sampled.
type Config struct {
	// Sampler draws the plans; nil is fhs.
	Sampler *Sampler
	Seed    uint64
	// Batch is the greatest number of rows of a call; 0 is 1.
	Batch int
	// Vocabulary says what the network's columns are.
	Vocabulary Vocabulary
	// TimeConditioned says that the network wants σ.
	TimeConditioned bool
	// LogMass is needed for raw scores: the logarithm of the mass c = Σ_a s(a)/r of a row,
	// given log Σ e^x of its tokens and the −log α that it was asked at.
	LogMass func(norm, theta float64) float64
	// OnFill and OnCall observe the run, on the goroutine that called [Sample]; what
	// they are handed is valid during their call only. They may be nil.
	OnFill func(Fill)
	OnCall func(Call)
}

// Totals are sums over a run.
type Totals struct {
	// Sequences counts finished ones; Calls and FinishCalls are sums over all
	// sequences, unfinished ones included.
	Sequences, Calls, FinishCalls int
	// NetworkCalls counts calls of the network, each for up to Batch sequences; Rows
	// are their rows, Calls + FinishCalls where no call failed.
	NetworkCalls, Rows int
	// Tokens counts drawn tokens, Events the events of the plans of finished sequences.
	Tokens, Events int
	// Network and Sampling share the time of the run.
	Network, Sampling time.Duration
}

// ByLength yields sequences grouped by the length of their canvas, in the order of
// the first of each length. Rows of a call share a length, so [Sample] fills its
// batch best with sequences in this order.
func ByLength(seqs []Sequence) iter.Seq[Sequence] {
	var lengths []int
	groups := make(map[int][]Sequence)
	for _, s := range seqs {
		n := len(s.Canvas)
		if groups[n] == nil {
			lengths = append(lengths, n)
		}
		groups[n] = append(groups[n], s)
	}
	return func(yield func(Sequence) bool) {
		for _, n := range lengths {
			for _, s := range groups[n] {
				if !yield(s) {
					return
				}
			}
		}
	}
}

// Sample fills sequences and hands each to emit as it finishes, which need not be
// in their order. Every call of the network takes the next non-empty block of each
// sequence in the batch, whatever their clocks say, and the place of a finished
// sequence is taken by the next one at once. A token that is on a canvas is never
// changed; a canvas without free positions takes no call.
//
// The ids of a sequence depend on the network, the sampler, the seed and the index,
// not on the batch or the order of sequences, as far as the network's rows do not.
//
// It stops at the first error: of the network, of emit, or the context's. What was
// finished before has been handed to emit and is counted in the totals.
func Sample(ctx context.Context, net Network, seqs iter.Seq[Sequence], cfg Config, emit func(Result) error) (Totals, error) {
	begin := time.Now()
	e, err := newEngine(ctx, net, cfg, emit)
	if err != nil {
		return Totals{}, err
	}
	next, stop := iter.Pull(seqs)
	defer stop()
	err = e.run(ctx, next)
	e.totals.Sampling = time.Since(begin) - e.totals.Network
	return e.totals, err
}

// engine is the state of one run.
type engine struct {
	net      Network
	cfg      Config
	emit     func(Result) error
	category *Categorical
	infinite bool

	// slots[:active] hold unfinished sequences with canvases of length length.
	slots  []*slot
	active int
	length int
	totals Totals

	ids, positions []int64
	sigma          []float64
	tokens         []int
	mixed, before  []float64
}

func newEngine(ctx context.Context, net Network, cfg Config, emit func(Result) error) (*engine, error) {
	if cfg.Sampler == nil {
		cfg.Sampler = &Sampler{law: fhs{}, settings: Settings{Sampler: "fhs"}}
	}
	if cfg.Batch < 0 {
		return nil, fmt.Errorf("samplers: batch is %d: must be at least 1", cfg.Batch)
	}
	cfg.Batch = max(cfg.Batch, 1)
	if _, raw := cfg.Sampler.kernel.(rawKernel); raw && cfg.LogMass == nil {
		return nil, fmt.Errorf("samplers: raw scores: the mass of a row is not known: set LogMass")
	}
	category, err := NewCategorical(cfg.Vocabulary, cfg.Sampler.settings.Draw)
	if err != nil {
		return nil, err
	}
	return &engine{net: net, cfg: cfg, emit: emit, category: category, infinite: AcceptsInfiniteSigma(net)}, ctx.Err()
}

func (e *engine) run(ctx context.Context, next func() (Sequence, bool)) error {
	ahead, more := next()
	for {
		for more && e.active < e.cfg.Batch && (e.active == 0 || len(ahead.Canvas) == e.length) {
			if err := e.admit(ahead); err != nil {
				return err
			}
			ahead, more = next()
		}
		if e.active == 0 {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := e.step(ctx); err != nil {
			return err
		}
	}
}

// admit starts a sequence, or finishes it where nothing is to be sampled.
func (e *engine) admit(s Sequence) error {
	if e.active == len(e.slots) {
		e.slots = append(e.slots, new(slot))
	}
	sl := e.slots[e.active]
	if err := sl.start(s, e.cfg); err != nil {
		return fmt.Errorf("samplers: sequence %d: %w", s.Index, err)
	}
	e.length = len(s.Canvas)
	if !sl.advance(e.cfg.Sampler.denoise) {
		return e.finish(sl)
	}
	e.active++
	return nil
}

func (e *engine) finish(sl *slot) error {
	e.totals.Sequences++
	e.totals.Events += sl.plan.Events
	return e.emit(sl.result(e.cfg.Vocabulary.Mask))
}

// step makes one call of the network and fills one block of every slot.
func (e *engine) step(ctx context.Context) error {
	slots, wanted := e.slots[:e.active], 0
	for _, sl := range slots {
		wanted = max(wanted, sl.block.wanted())
	}
	if err := e.gather(slots, wanted); err != nil {
		return err
	}
	var sigma []float64
	if e.cfg.TimeConditioned {
		sigma = e.sigma
	}
	begin := time.Now()
	out, err := e.net.Logits(ctx, len(slots), e.ids, e.positions, sigma)
	e.totals.Network += time.Since(begin)
	e.totals.NetworkCalls++
	e.totals.Rows += len(slots)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("samplers: network: %w", err)
	}
	columns := e.cfg.Vocabulary.Columns
	if len(out) != len(slots)*wanted*columns {
		return fmt.Errorf("samplers: the network returned %d values for %d rows of %d positions and %d columns", len(out), len(slots), wanted, columns)
	}
	call := Call{Rows: len(slots), Length: e.length, Wanted: wanted}
	kept := 0
	for r, sl := range slots {
		if err := e.fill(sl, out[r*wanted*columns:]); err != nil {
			return err
		}
		call.Tokens += len(sl.block.Positions)
		if sl.advance(e.cfg.Sampler.denoise) {
			// Slots that go on move up; the finished ones change places with them.
			e.slots[kept], e.slots[r] = e.slots[r], e.slots[kept]
			kept++
			continue
		}
		call.Finished++
		if err := e.finish(sl); err != nil {
			return err
		}
	}
	e.active = kept
	if e.cfg.OnCall != nil {
		e.cfg.OnCall(call)
	}
	return nil
}

// gather lays out the canvases, wanted positions and σ of a call. A row that wants
// fewer positions than another repeats its last one.
func (e *engine) gather(slots []*slot, wanted int) error {
	e.ids, e.positions, e.sigma = e.ids[:0], e.positions[:0], e.sigma[:0]
	shift := 0
	if e.cfg.Vocabulary.Shift {
		shift = 1
	}
	for _, sl := range slots {
		e.ids = append(e.ids, sl.canvas...)
		for i := range wanted {
			e.positions = append(e.positions, int64(sl.block.want(i)-shift))
		}
		if e.cfg.TimeConditioned && math.IsInf(sl.block.Theta, 1) && !e.infinite {
			return fmt.Errorf("samplers: sequence %d: the time-conditioned network has no row at T = ∞: give a finite T", sl.index)
		}
		e.sigma = append(e.sigma, sl.block.Theta)
	}
	return nil
}

// fill draws the tokens of a slot's block from its rows.
func (e *engine) fill(sl *slot, rows []float32) error {
	columns := e.cfg.Vocabulary.Columns
	e.tokens = e.tokens[:0]
	if e.cfg.Sampler.kernel != nil && !sl.finishing {
		if err := e.decode(sl, rows); err != nil {
			return err
		}
	} else {
		for i, l := range sl.block.Positions {
			token, err := e.token(sl, i, rows[i*columns:(i+1)*columns])
			if err != nil {
				return fmt.Errorf("samplers: sequence %d, position %d: %w", sl.index, l, err)
			}
			e.tokens = append(e.tokens, token)
		}
		sl.keep(rows[len(sl.block.Positions)*columns:], columns)
	}
	for i, l := range sl.block.Positions {
		sl.canvas[l] = int64(e.tokens[i])
	}
	e.totals.Tokens += len(e.tokens)
	if sl.finishing {
		sl.finishCalls++
		e.totals.FinishCalls++
	} else {
		sl.calls++
		e.totals.Calls++
	}
	if e.cfg.OnFill != nil {
		e.cfg.OnFill(Fill{Index: sl.index, Block: sl.block, Tokens: slices.Clone(e.tokens), Finish: sl.finishing})
	}
	return nil
}
