package bench

import (
	"mdmgen/analysis/bench"
	"mdmgen/analysis/likelihood"
	"mdmgen/internal/exit"
)

// target is the window of the sampling error, whose length set gets.
func (r *benching) target(set *bench.QualitySettings) (likelihood.Target, error) {
	f := r.facts
	d := r.errorLength
	switch {
	case f.FixedLength && d == 0:
		d = min(f.Length, likelihood.MaxFree)
	case d == 0:
		d = min(defaultErrorLength, f.Length)
	case d > f.Length:
		return likelihood.Target{}, exit.Usagef("--error-length %d: the model takes canvases of at most %d positions", d, f.Length)
	}
	switch {
	case f.FixedLength && d != f.Length:
		return likelihood.Target{}, exit.Usagef("--error-length %d: the model takes canvases of exactly %d positions", d, f.Length)
	case f.Shift:
		return likelihood.Target{}, exit.Usagef("--quality error: the network predicts position l from row l−1, and has no row for the first: `mdmgen bound TEXT --context 1` measures behind a first token")
	}
	set.ErrorLength = d
	return likelihood.Whole(make([]int, d)), nil
}
