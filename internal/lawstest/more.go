package lawstest

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers/catalog"
)

// More is the law of a sampler in the reference files of further samplers, enumerated by another program: Law
// is over states, nil if no masks are left, and LawDenoised over sequences.
type More struct {
	Sampler  string
	Settings struct {
		Grid            string
		ForwardTimes    []float64 `json:"forward_times"`
		MaskedFractions []float64 `json:"masked_fractions"`
		Sizes           []int
		Gamma           float64
	}
	Law         []float64
	LawDenoised []float64 `json:"law_denoised"`
	Calls       *float64  `json:"expected_calls"`
}

// MoreLaws returns a reference world with its laws of further samplers.
func MoreLaws(t testing.TB, name string) (*world.World, []More) {
	t.Helper()
	var file struct{ Laws []More }
	reftest.OK(t, json.Unmarshal(reftest.Must(os.ReadFile(reftest.Data(t, "reference", "laws-more", name+".json")))(t), &file))
	w, _ := Open(t, name)
	return w, file.Laws
}

// Options returns the options of the sampler, and false if there is no such sampler.
func (l *More) Options() (catalog.Options, bool) {
	times, fractions := "theta:"+list(l.Settings.ForwardTimes), "lambda:"+list(l.Settings.MaskedFractions)
	switch l.Sampler {
	case "uniformization", "matu", "dmpm":
		return catalog.Options{Sampler: l.Sampler, PlanOptions: catalog.PlanOptions{Grid: times}}, true
	case "tweedie":
		return catalog.Options{Sampler: "tweedie", PlanOptions: catalog.PlanOptions{Grid: fractions}}, true
	case "fhs_parallel":
		return catalog.Options{Sampler: "parallel-fhs", PlanOptions: catalog.PlanOptions{Sizes: list(l.Settings.Sizes)}}, true
	case "eb":
		return catalog.Options{Sampler: "entropy-bounded", RankOptions: catalog.RankOptions{Gamma: &l.Settings.Gamma}}, true
	}
	return catalog.Options{}, false
}

// list writes values such that an option reads back the same bits.
func list[T int | float64](x []T) string {
	var items []string
	for _, v := range x {
		items = append(items, strconv.FormatFloat(float64(v), 'g', -1, 64))
	}
	return strings.Join(items, ",")
}
