package samplers_test

import (
	"context"
	"fmt"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// TestSamplesGolden freezes samples of a world: the samples of a seed must not change.
func TestSamplesGolden(t *testing.T) {
	w := openWorld(t, 0)
	for _, test := range []struct {
		o    catalog.Options
		want string
	}{
		{catalog.Options{}, "0:111 1:011 2:000 3:000 4:101 5:000 6:100 7:101 8:000 9:000 10:111 11:001 "},
		{catalog.Options{Sampler: "euler", Steps: 4, PlanOptions: catalog.PlanOptions{Finish: "leave"}}, "1:022 2:220 3:200 5:022 6:202 7:100 8:022 9:022 10:101 11:202 0:111 4:121 "},
		{catalog.Options{Sampler: "tweedie", Steps: 4, PlanOptions: catalog.PlanOptions{Grid: "lambda"}}, "0:101 1:011 4:011 5:010 6:100 7:101 8:000 9:011 2:010 3:000 10:111 11:001 "},
		{catalog.Options{Sampler: "tau-leaping", Steps: 4, PlanOptions: catalog.PlanOptions{Grid: "paper", Tau: "one"}}, "5:011 6:100 7:100 9:011 1:011 2:000 3:100 8:000 10:111 11:001 0:111 4:101 "},
		{catalog.Options{Sampler: "matu", Steps: 4}, "0:111 1:011 2:000 3:000 4:101 5:000 6:100 7:101 8:000 9:000 10:111 11:001 "},
		{catalog.Options{Sampler: "dmpm", Steps: 4}, "6:100 9:011 1:011 2:000 5:010 8:000 11:001 0:111 3:000 4:101 7:101 10:111 "},
		{catalog.Options{Sampler: "random-sizes", Steps: 2}, "0:111 1:011 2:000 3:000 4:111 5:011 6:100 7:100 8:000 9:011 10:111 11:001 "},
		{catalog.Options{Sampler: "random-sizes", Steps: 2, PlanOptions: catalog.PlanOptions{Correlation: "dual"}}, "0:111 1:011 2:010 3:100 4:011 5:010 6:100 7:101 8:000 9:000 10:111 11:001 "},
	} {
		var got string
		_, err := samplers.Sample(context.Background(), w, repeat(allMask(w), 12), config(w, newSampler(t, w, test.o), 2026), func(r samplers.Result) error {
			got += fmt.Sprintf("%d:", r.Index)
			for _, id := range r.IDs {
				got += fmt.Sprint(id)
			}
			got += " "
			return nil
		})
		reftest.OK(t, err)
		if got != test.want {
			t.Errorf("%+v: %q, want %q", test.o, got, test.want)
		}
	}
}
