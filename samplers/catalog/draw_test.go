package catalog_test

import (
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// TestWhichDraw checks the default draw: inverse, or gumbel with look-ahead. If rows stay on their
// device it is always inverse, and another choice is an error.
func TestWhichDraw(t *testing.T) {
	for _, test := range []struct {
		o    catalog.Options
		stay bool
		want draw.By
		head samplers.Head
	}{
		{catalog.Options{}, false, draw.ByInverse, samplers.HeadBest},
		{catalog.Options{By: draw.ByGumbel}, false, draw.ByGumbel, samplers.HeadRows},
		{catalog.Options{Lookahead: 1}, false, draw.ByGumbel, samplers.HeadRows},
		{catalog.Options{Lookahead: 8, By: draw.ByInverse}, false, draw.ByInverse, samplers.HeadBest},
		{catalog.Options{Lookahead: 8}, true, draw.ByInverse, samplers.HeadBest},
		{catalog.Options{By: draw.ByGumbel}, true, "", ""},
		{catalog.Options{Sampler: "parallel-fhs", By: draw.ByGumbel}, false, draw.ByGumbel, samplers.HeadRows},
	} {
		s, err := catalog.New(test.o, samplers.Spec{RowsStay: test.stay})
		switch {
		case test.want == "":
			reftest.Fails(t, err, "draw gumbel: needs rows, which stay on", test.o)
		case err != nil || s.By() != test.want || s.Settings().By != test.want || s.Head(struct{ samplers.Drawer }{}) != test.head || s.Settings().ChangesLaw:
			t.Errorf("%+v: %+v, %v; want %s", test.o, s, err, test.want)
		}
	}
}
