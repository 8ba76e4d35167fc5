package main

import (
	"os"
	"slices"
	"testing"

	"mdmgen/analysis/likelihood"
	"mdmgen/internal/reftest"
)

// trastuzumab is the variable domain of that antibody's heavy chain.
const trastuzumab = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS"

// TestPublished is a short form of docs/research/real.md: AntiBERTy draws third loops that end as
// heavy chains do, and finds a chain likelier than its mirror image. The gate fetches the package.
func TestPublished(t *testing.T) {
	folder := os.Getenv("MDMGEN_REAL")
	if folder == "" {
		t.Skip("MDMGEN_REAL names no folder with the package antiberty")
	}
	net := openReal(t.Context(), folder, antibodies, "fp32")
	defer net.Close()
	at := cdr3.FindStringSubmatchIndex(trastuzumab)
	gap := net.gap(trastuzumab, at[2], at[3]-at[2]+len("WG.G"))
	texts, _ := net.fill(t.Context(), net.sampler("fhs", 0, nil), []likelihood.Target{gap, gap, gap, gap})
	valid := 0
	for _, text := range texts {
		if cdr3.MatchString(text) {
			valid++
		}
	}
	if valid < 3 {
		t.Errorf("%d of 4 chains have C … WG.G: %q", valid, texts)
	}
	mirrored := []byte(trastuzumab)
	slices.Reverse(mirrored)
	var targets []likelihood.Target
	for _, text := range []string{trastuzumab, string(mirrored)} {
		targets = append(targets, net.gap(text, 0, len(text)))
	}
	nats := reftest.Must(net.e.Estimate(t.Context(), targets, 0, likelihood.Config{Draws: 4, Seed: seed}))(t)
	if a, b := nats[0].Nats.Mean/float64(len(trastuzumab)), nats[1].Nats.Mean/float64(len(trastuzumab)); a > b-1 {
		t.Errorf("NELBO of the chain %v nats a letter, mirrored %v", a, b)
	}
}
