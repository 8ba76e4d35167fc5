package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	"mdmgen/cmd/mdmgen/internal/generate"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/trace"
	"mdmgen/internal/exit"
	"mdmgen/serve/frame"
)

// errCompared ends a run that is longer than its trace.
var errCompared = errors.New("the trace ends here")

// check runs traces again and compares every frame except its time.
func check(ctx context.Context, s kit.Streams, traces []*trace.Trace) error {
	silent := s
	silent.Out, silent.Verbosity = &kit.StandardOutput{W: io.Discard}, &kit.Verbosity{Level: kit.Quiet}
	for _, t := range traces {
		next, bad := 0, error(nil)
		whole := t.End != nil && !t.End.Interrupted
		err := generate.Again(ctx, silent, t.Header, func(f frame.Frame) error {
			if bad != nil || next == len(t.Frames) && !whole {
				return errCompared
			}
			if next == len(t.Frames) {
				bad = fmt.Errorf("sequence %d, call %d is missing", f.Sequence, f.Call)
				return errCompared
			}
			if what := differs(t.Frames[next], f); what != "" {
				bad = fmt.Errorf("line %d: sequence %d, call %d: %s", next+2, t.Frames[next].Sequence, t.Frames[next].Call, what)
				return errCompared
			}
			next++
			return nil
		})
		switch {
		case bad != nil:
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && !errors.Is(err, context.Canceled):
			return fmt.Errorf("%s: cannot be run again: %w", t.Path, err)
		case next < len(t.Frames):
			bad = fmt.Errorf("line %d: sequence %d, call %d does not recur", next+2, t.Frames[next].Sequence, t.Frames[next].Call)
		}
		if bad != nil {
			return exit.Invalidf("%s: %w", t.Path, bad)
		}
		part := ""
		if !whole {
			part = ", of a run that did not end"
		}
		fmt.Fprintf(s.Out, "%s: the same %d frames%s\n", t.Path, len(t.Frames), part)
	}
	return nil
}

// differs describes the difference of a frame from the one in the trace, "" for none.
func differs(was, is frame.Frame) string {
	for i := range min(len(was.Positions), len(is.Positions)) {
		if a, b := draw(was, i), draw(is, i); a != b {
			return a + ", now " + b
		}
	}
	// Texts depend on the tokenizer, which a run need not open.
	was.Pieces, is.Pieces, was.Seconds, is.Seconds = nil, nil, 0, 0
	for _, tokens := range slices.Concat(was.Alternatives, is.Alternatives) {
		for j := range tokens {
			tokens[j].Piece = ""
		}
	}
	if !reflect.DeepEqual(was, is) {
		return "its positions, time or end differ"
	}
	return ""
}

// draw describes the i-th draw of a frame, with all digits.
func draw(f frame.Frame, i int) string {
	if i >= len(f.LogP) {
		return fmt.Sprintf("position %d is given token %d", f.Positions[i], f.Tokens[i])
	}
	return fmt.Sprintf("position %d: token %d, log-probability %v", f.Positions[i], f.Tokens[i], f.LogP[i])
}
