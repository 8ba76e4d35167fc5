package cache_test

import (
	"context"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/cache"
	"mdmgen/samplers/catalog"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		{"", ""}, {"none", ""}, {"dual", "dual"}, {"prefix", "prefix"}, {"auto", "window:8/64"}, {"window", "window:8/64"},
		{"window:4", "window:4/64"}, {"window:4/32", "window:4/32"}, {"window:0/inf/8", "window:0/inf/8"}, {"window:4/inf/0", "window:4/inf"},
	} {
		if s, err := cache.Parse(test.text); err != nil || s.String() != test.want {
			t.Errorf("%q: %q, %v", test.text, s, err)
		}
	}
	for _, text := range []string{"windows", "window:", "window:-1", "window:4/0", "window:4/32/x", "window:4/32/1/1", "dual:3", "auto:8"} {
		reftest.Fails(t, reftest.Err(cache.Parse(text)), "", text)
	}
}

// TestRefused checks that unusable options are rejected by name.
func TestRefused(t *testing.T) {
	t.Parallel()
	net := newToy(3, 8)
	for _, test := range []struct {
		o    catalog.Options
		want string
	}{
		{catalog.Options{Cache: "dual"}, "block-length"},
		{catalog.Options{Cache: "window", Sampler: "confidence"}, "block-length"},
	} {
		reftest.Fails(t, reftest.Err(catalog.New(test.o, net.Spec())), test.want, test.o)
	}
	s := lawstest.NewFor(t, catalog.Options{Cache: "auto"}, net.Spec())
	if set := s.Settings(); set.Cache != "window:8/64" || !set.ChangesLaw || s.Planned() {
		t.Errorf("settings %+v", set)
	}
}

// plain hides that a network keeps keys and values.
type plain struct{ samplers.Network }

func TestNetworkKeepsNothing(t *testing.T) {
	t.Parallel()
	net := newToy(3, 8)
	s := lawstest.NewFor(t, catalog.Options{Cache: "window:1"}, net.Spec())
	reftest.Fails(t, reftest.Err(samplers.Fill(context.Background(), plain{net}, masks(net, 8), s, 1)), "cannot cache keys and values")
}
