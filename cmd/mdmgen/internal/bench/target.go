package bench

import (
	"mdmgen/analysis/bench"
	"mdmgen/analysis/likelihood"
	"mdmgen/cmd/mdmgen/internal/texts"
	"mdmgen/internal/exit"
	"mdmgen/samplers/subset"
)

// target returns the window of the sampling error, and stores its length in set.
func (r *benching) target(set *bench.QualitySettings) (likelihood.Target, error) {
	f := r.facts
	d := r.errorLength
	switch {
	case f.FixedLength && d == 0:
		d = min(f.Length, subset.MaxFree)
	case d == 0:
		d = min(defaultErrorLength, f.Length)
	}
	if err := texts.CheckLength("error-length", d, f); err != nil {
		return likelihood.Target{}, err
	}
	if f.Shift {
		return likelihood.Target{}, exit.Usagef("--quality error: the network predicts position l from row l−1, and has no row for the first position: `mdmgen bound TEXT --context 1` measures after a first token")
	}
	set.ErrorLength = d
	return likelihood.Whole(make([]int, d)), nil
}
