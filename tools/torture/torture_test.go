//go:build unix

package torture

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	ossignal "os/signal"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"mdmgen/internal/reftest"
)

var (
	ends = flag.Int("ends", 0, "how many commands are ended at a random moment")
	seed = flag.Uint64("seed", 1, "seed of the commands' order and of the moments")
	only = flag.String("only", "", "commands to torture, separated by commas (default: all)")
)

// tally is a line of the table. An end is late if the command had already ended.
type tally struct{ kills, interrupts, late, faults int }

// TestTorture ends commands in turn, in proportion to their weights.
func TestTorture(t *testing.T) {
	if *ends == 0 {
		t.Skip("takes minutes: run with -ends 300")
	}
	var chosen, ring []*subject
	for _, s := range subjects() {
		if *only == "" || slices.Contains(strings.Split(*only, ","), s.name) {
			chosen = append(chosen, s)
		}
	}
	if len(chosen) == 0 {
		t.Fatalf("-only %s: there is no such command", *only)
	}
	ctx, stop := ossignal.NotifyContext(t.Context(), os.Interrupt)
	defer stop()
	b := newBench(t)
	random := rand.New(rand.NewPCG(*seed, 0))
	for _, s := range chosen {
		if err := b.whole(ctx, s); err != nil {
			t.Fatalf("%s, unbroken: %v", s.name, err)
		}
		t.Logf("%s takes %.2f s", s.name, s.duration.Seconds())
		ring = append(ring, slices.Repeat([]*subject{s}, s.weight)...)
	}
	for i := range *ends {
		s := ring[i%len(ring)]
		found, err := b.end(ctx, s, random, &s.tally)
		reftest.OK(t, err, s.name)
		for _, f := range found {
			t.Errorf("%s, end %d, %s", s.name, i+1, f)
		}
		if len(found) > 0 {
			s.tally.faults++
		}
	}
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "command\tkills\tinterrupts\ttoo late\tfaults")
	for _, s := range chosen {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\n", s.name, s.tally.kills, s.tally.interrupts, s.tally.late, s.tally.faults)
	}
	_ = w.Flush()
	t.Logf("\n%s", table.String())
}
