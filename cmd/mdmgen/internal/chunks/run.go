package chunks

import (
	"cmp"
	"context"
	"fmt"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/fault"
	"mdmgen/internal/plainfile"
)

// Work is what a command does with its chunks, whose results have type T.
type Work[T any] struct {
	// Compute computes a chunk. It reads the pieces that are kept of it.
	Compute func(chunk int) (T, error)
	// Count returns what a finished chunk adds to the progress; kept reports whether it was finished
	// before.
	Count func(chunk int, result T, kept bool) int
	// Take is called with each chunk of a whole run, in order, and End after the last one, with the
	// error that ended the run. A part has neither: it prints nothing.
	Take func(chunk int, result T, kept bool) error
	End  func(err error) error
}

// Do does the work of a run, or of the part of it that was asked for, and closes its file.
func Do[T any](ctx context.Context, k *Checkpoint, s kit.Streams, bar *kit.Progress, w Work[T]) error {
	defer k.Close()
	defer bar.Clear()
	if k.part != "" && k.ended && k.j == nil {
		s.Notice(fmt.Sprintf("%s already exists: %v", k.part, &k.header.Part))
		return nil
	}
	err := each(ctx, k, bar, w)
	if err == nil {
		err = k.finish(s)
	}
	if bar.Clear(); err != nil {
		k.Unfinished()
	}
	switch {
	case k.part == "":
		return w.End(err)
	case err != nil:
		err = cmp.Or(ctx.Err(), fault.WithoutName(err))
	}
	return err
}

// each goes through the chunks of the run or part in order. It computes the unfinished ones, and
// keeps each before it is taken. It returns the first error, or that of ctx.
func each[T any](ctx context.Context, k *Checkpoint, bar *kit.Progress, w Work[T]) error {
	for i := k.header.Part.From; i < k.header.Part.To; i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		kept := k.where[i].file > 0
		var result T
		var err error
		if kept {
			err = k.result(i, &result)
		} else if result, err = w.Compute(i); err == nil {
			err = k.keep(i, result, false)
		}
		if err != nil {
			return err
		}
		bar.Add(w.Count(i, result, kept))
		if k.part == "" {
			if err := w.Take(i, result, kept); err != nil {
				return err
			}
		}
	}
	return nil
}

// finish writes the footer and gives a part its name.
func (k *Checkpoint) finish(s kit.Streams) error {
	if k.path == "" {
		return nil
	}
	if p := k.header.Part; !k.ended { // A part that was killed before it was renamed has a footer.
		if err := k.j.Append(line{End: &span{p.From, p.To}}); err != nil {
			return fmt.Errorf("%s %w", k.flag, err)
		}
	}
	if k.part == "" {
		return nil
	}
	if err := k.j.Rename(k.part); err != nil {
		return fault.Advise("%v %s: %w", kit.OutputTerm, k.part, plainfile.Cause(err))
	}
	s.Notice(fmt.Sprintf("wrote %s: %v", k.part, &k.header.Part))
	return nil
}
