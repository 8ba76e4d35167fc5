package generate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/trace"
	"mdmgen/cmd/mdmgen/internal/watch"
	"mdmgen/internal/exit"
	"mdmgen/model"
	"mdmgen/samplers"
	"mdmgen/serve/frame"
)

// shown holds the flags by which a run is shown and traced call by call.
type shown struct {
	watch         bool
	colors, trace string
	// top is the number of alternatives per token in the trace.
	top int
	// frames, if not nil, is called with every frame; its error ends the run.
	frames func(frame.Frame) error
	// model, if not nil, is the model that the run must have.
	model *model.Origin
}

// maxAlternatives is the maximum of --set trace-top: a page has no room for more.
const maxAlternatives = 100

func (f *shown) flags() kit.Set {
	f.colors = "state"
	return kit.Set{
		kit.Bool(&f.watch, kit.Flag{Name: "watch", Category: kit.CatOutput, Usage: "show the canvas on the terminal while it fills"}),
		kit.Words(&f.colors, []string{"state", "confidence"}, kit.Flag{Name: "colors", Category: kit.CatOutput, Rare: true, Usage: "colour tokens of --watch by `WHAT`: state or confidence"}),
		kit.Name(&f.trace, "name a file", kit.Flag{Name: "trace", Category: kit.CatOutput, Writes: true, Usage: "record every call in `FILE`, for mdmgen replay"}),
		kit.Int(&f.top, 1, maxAlternatives, kit.Flag{Name: "trace-top", Category: kit.CatOutput, Rare: true, Default: "none", Usage: "add the `K` likeliest alternatives of each token to the trace"}),
	}
}

func (f *shown) check(all kit.Set) error {
	var err error
	if !f.watch {
		err = all.Unused("without --watch", "colors")
	}
	if err == nil && f.trace == "" && f.frames == nil {
		err = all.Unused("without --trace", "trace-top")
	}
	return cmp.Or(err, all.Exclude([2]string{"trace", "dry-run"}, [2]string{"trace", "resume"}, [2]string{"watch", "dry-run"}, [2]string{"watch", "resume"}))
}

// observer follows the steps of a run.
type observer struct {
	maker  frame.Maker
	writer *trace.Writer
	screen *watch.Screen
	frames func(frame.Frame) error
	stop   context.CancelCauseFunc
}

// observe begins to follow the run; end stops it.
func (g *generation) observe() (end func(*error), err error) {
	if !g.show.watch && g.show.trace == "" && g.show.frames == nil {
		return func(*error) {}, nil
	}
	if was, is := g.show.model, kit.NewProvenance(g.network, nil).Model; was != nil && is != nil && was.Digest != is.Digest {
		return nil, exit.Invalidf("the model %s has changed: its digest is %.19s, and was %.19s", is.Reference, is.Digest, was.Digest)
	}
	w := &observer{maker: frame.Maker{Mask: g.facts.MaskID, Piece: g.words.Piece(), Begin: time.Now()}, frames: g.show.frames}
	g.ctx, w.stop = context.WithCancelCause(g.ctx)
	if g.show.trace != "" {
		if w.writer, err = trace.Create(g.ctx, g.show.trace, g.header()); err != nil {
			return nil, err
		}
	}
	if g.show.watch {
		o := watch.Options{Confidence: g.show.colors == "confidence", Seed: g.settings.Seed, Expected: func(sequence uint64) (float64, bool) { return g.at(int(sequence)).Expected(g.network.Spec()) }}
		var why string
		if w.screen, why = watch.Open(g.streams, o); why != "" {
			g.streams.Notice("--watch is ignored: " + why)
		}
	}
	g.watched = w
	return w.end, nil
}

// hide removes the canvas from the terminal.
func (w *observer) hide() {
	if w != nil {
		w.screen.Close()
	}
}

// step is called for each step of the run.
func (w *observer) step(s samplers.Step, canvas []int) {
	if w == nil {
		return
	}
	for _, f := range w.maker.Step(s, canvas) {
		if w.writer != nil {
			w.writer.Frame(f)
		}
		w.screen.Frame(f)
		if w.frames != nil {
			if err := w.frames(f); err != nil {
				w.stop(err)
			}
		}
	}
}

func (w *observer) end(err *error) {
	w.stop(nil)
	w.hide()
	if w.writer != nil {
		*err = errors.Join(*err, w.writer.Close(*err != nil))
	}
}

// header returns the header of the trace.
func (g *generation) header() trace.Header {
	settings, _ := json.Marshal(g.settings) // Marshaling cannot fail: settings is part of records.
	h := trace.Header{Schema: trace.Schema, Provenance: kit.NewProvenance(g.network, g.words), Command: g.streams.Command, Flags: make(map[string][]string), Settings: settings, Samples: g.next}
	for _, f := range g.all {
		// Other variables of the environment describe the machine, and a later run uses its own.
		if !f.Writes && (f.IsSet() || f.InEnvironment() && (f.Name == "model" || f.Name == "tokenizer")) {
			h.Flags[f.Name] = f.Texts()
		}
	}
	seed := strconv.FormatUint(g.settings.Seed, 10)
	if h.Flags["seed"] = []string{seed}; g.sampler.Seed == nil {
		h.Command += " --seed " + seed
	}
	return h
}

// Again repeats the run of a trace's header and calls frames with each frame; an error of frames
// ends the run. The results are discarded.
func Again(ctx context.Context, s kit.Streams, h trace.Header, frames func(frame.Frame) error) error {
	o := &options{}
	all := o.flags()
	for name, texts := range h.Flags {
		f := all.Find(name)
		if f == nil {
			return fmt.Errorf("this program has no flag %s: the file is from version %s", kit.Dashed(name), h.Provenance.Version)
		}
		for _, text := range texts {
			if err := f.Set(text); err != nil {
				return fmt.Errorf("%s: %w", f.Typed(), err)
			}
		}
	}
	if o.input == "-" {
		return errors.New("its canvases came from standard input, which was not saved")
	}
	o.format, o.show.frames, o.show.model = "ids", frames, h.Provenance.Model
	if err := o.check(ctx, s, nil); err != nil {
		return err
	}
	s.Results, _ = kit.NewOutput(ctx, kit.OutputTerm, "", s) // which cannot fail
	return o.run(ctx, s, nil)
}
