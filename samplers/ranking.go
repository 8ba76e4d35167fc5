package samplers

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"mdmgen/samplers/draw"
	"mdmgen/samplers/schedule"
)

// ranking is the law of the decoders that commit the positions about which the network is
// surest. They are one decoder: candidates, which are masked positions; a score of each, from
// its row; how many are committed ([choosing]); and what is committed, the tokens drawn there.
// What is revealed depends on the rows, and so there is no plan.
type ranking struct {
	unplanned
	score    Score
	choosing choosing
	// byToken says that scores are of the tokens that were drawn, and these random.
	byToken bool
	// temper, where it is above 0, has positions chosen without replacement in proportion to
	// e^(score/temper), and not in the order of their scores.
	temper float64
	// block is the length of a block, 0 for one block of the whole canvas, behind a prompt of
	// so many positions; −1 for what is before the first mask. inside says that only masks
	// of the block are candidates, and not those before it.
	block, prompt int
	inside        bool
	// quotas are those of a block, by steps of all blocks.
	rounding schedule.Rounding
	eps      float64
	cosine   bool
	binomial bool
	ofLength bool // of the length of the block, and not of its masks
	steps    int
	editing  float64 // the probability above which a token replaces one that stands there; 0 for never
	stop     int     // the token that ends the sequence behind a finished block, −1 for none
	begin    []int
	raw      bool
}

// candidate is a position with the token that was drawn there.
type candidate struct {
	position, token int
	logP            float64
	score, entropy  float64
	// key is what orders candidates: the score, but for random choices.
	key float64
}

// ranked is the decoder of a sequence.
type ranked struct {
	law    *ranking
	canvas *Canvas
	draws  *draw.Draws
	reader reader
	// shape is what changes the rows where a text is replayed, nil for nothing.
	shape *shaped
	// free counts what was masked at the start.
	free int
	// block is the one to fill, entered once run is its own.
	block   window
	entered bool
	run     blockRun
	// ruleCalls counts the calls of the rule in all blocks.
	ruleCalls int
	// asked are the positions of the call, the first of which are masked; considered is
	// how many of the candidates it may commit.
	asked, masked []int
	considered    int
	drawn, ranked []candidate
}

func (law *ranking) start(c *Canvas, d *draw.Draws, free []int, _ bool) (Decoder, error) {
	r := &ranked{law: law, canvas: c, draws: d, masked: free, free: len(free)}
	var err error
	if r.block, err = newWindow(c, law.block, law.prompt, law.stop); err != nil {
		return nil, err
	}
	return r, r.reader.begin(r)
}

// RuleCalls counts the calls that the rule makes, those that can commit nothing and are not
// made included.
func (d *ranked) RuleCalls() int { return d.ruleCalls }

// look counts masks, and finds the candidates: masks before the end of the block.
func (d *ranked) look() {
	d.masked, d.run.masked = d.masked[:0], 0
	for l := range d.block.to {
		if !d.canvas.masked(l) {
			continue
		}
		if l >= d.block.from {
			d.run.masked++
		} else if d.law.inside {
			continue
		}
		d.masked = append(d.masked, l)
	}
	d.run.candidates = len(d.masked)
}

// enter begins a block.
func (d *ranked) enter() {
	d.entered = true
	d.run = blockRun{length: d.block.to - d.block.from}
	d.look()
	d.run.first = d.run.masked
	if d.law.steps == 0 {
		return
	}
	steps, of := (d.law.steps+d.block.blocks()-1)/d.block.blocks(), d.run.first
	if d.law.ofLength {
		steps, of = d.law.steps, d.run.length
	}
	d.run.steps = steps
	if d.law.binomial {
		var uniforms []float64
		for _, l := range d.masked[len(d.masked)-d.run.first:] {
			uniforms = append(uniforms, d.draws.Plan(l))
		}
		d.run.quotas = schedule.DrawnQuotas(uniforms, steps, d.law.cosine)
	} else {
		d.run.quotas = schedule.Quotas(d.law.rounding, of, steps, d.law.eps, d.law.cosine)
	}
}

// next finds the next call that can commit something, and false where there is none.
func (d *ranked) next() bool {
	for {
		if !d.entered {
			d.enter()
		}
		d.look()
		n, more := d.law.choosing.consider(&d.run)
		if !more {
			if d.entered = false; !d.block.next() {
				return false
			}
			continue
		}
		d.ruleCalls++
		d.considered = min(n, len(d.masked))
		d.asked = append(d.asked[:0], d.masked...)
		if d.law.editing > 0 {
			for l := range d.block.to {
				if !d.block.given[l] && !d.canvas.masked(l) {
					d.asked = append(d.asked, l)
				}
			}
		}
		if d.considered > 0 || len(d.asked) > len(d.masked) {
			return true
		}
		d.run.calls++
		d.run.idle = d.run.masked == 0 // a call about nothing changes nothing
	}
}

// theta is the −log α at which a network that wants the time is asked: that of the positions
// which were masked at the start.
func (d *ranked) theta() float64 {
	masked := 0
	for l := range d.canvas.Len() {
		if d.canvas.masked(l) {
			masked++
		}
	}
	return d.canvas.theta(float64(masked) / float64(d.free))
}

func (d *ranked) Ask(a *Ask) bool {
	if !d.next() {
		return false
	}
	if d.law.score == ScoreRandom {
		// The order of the plan's uniforms is that of a choice drawn anew at each call.
		slices.SortFunc(d.asked, func(i, j int) int {
			return cmp.Or(cmp.Compare(d.draws.Plan(j), d.draws.Plan(i)), i-j)
		})
		d.asked = d.asked[:d.considered]
	}
	a.Step = d.ruleCalls - 1
	d.reader.ask(a, d.asked, d.theta())
	return true
}

func (d *ranked) Take(r Rows, e *Edit) error {
	d.drawn = d.drawn[:0]
	for i, l := range d.asked {
		c, err := d.reader.read(r, i, l)
		if i >= len(d.masked) && (errors.Is(err, draw.ErrNoMass) || errors.Is(err, errNoSoftmax)) {
			continue // the network says nothing of a position that has a token
		}
		if err != nil {
			return fmt.Errorf("position %d: %w", l, err)
		}
		d.drawn = append(d.drawn, c)
	}
	best, edits := d.split(d.drawn)
	d.commit(best[:d.considered], edits, e)
	return nil
}

// split parts what was drawn into the candidates, best first, and what was drawn where a token
// stands.
func (d *ranked) split(drawn []candidate) (best, edits []candidate) {
	d.ranked = d.ranked[:0]
	for _, c := range drawn {
		if d.canvas.masked(c.position) {
			d.ranked = append(d.ranked, c)
		} else {
			edits = append(edits, c)
		}
	}
	slices.SortFunc(d.ranked, compareKeys)
	return d.ranked, edits
}

// compareKeys puts the greater key first, and the lower position among equals.
func compareKeys(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.key, a.key), a.position-b.position)
}

// commit puts what the rule chooses of the considered candidates, best first, on the canvas,
// and the edits that it makes.
func (d *ranked) commit(considered, edits []candidate, e *Edit) {
	edited := false
	for _, c := range edits {
		if c.token != d.canvas.ID(c.position) && c.score > d.law.editing {
			e.Set(c.position, c.token, c.logP)
			edited = true
		}
	}
	chosen := considered
	if len(considered) > 0 {
		chosen = d.law.choosing.choose(&d.run, considered)
	}
	if d.run.masked == 0 {
		d.run.polished++
		d.run.idle = !edited
	}
	d.reveal(chosen, len(considered), e)
}

// reveal puts what was chosen of so many candidates on the canvas.
func (d *ranked) reveal(chosen []candidate, considered int, e *Edit) {
	for _, c := range chosen {
		e.Set(c.position, c.token, c.logP)
	}
	d.run.calls++
	d.run.refused = considered - len(chosen)
	d.block.halt(e)
}

func (law *ranking) mostCalls(_ Spec, d, length int) int {
	blocks := blocksOf(length, law.block)
	switch choice, _ := law.choosing.(surelyChoice); {
	case choice.edits:
		return d + blocks*choice.polishes
	case law.raw && law.rounding == schedule.RoundDream: // a mask may be drawn in each step
		return max(d, law.steps+blocks)
	}
	return d
}
