package bench

import (
	"encoding/json"
	"math"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers"
)

// TestManyEvents counts events whose squares overflow an int.
func TestManyEvents(t *testing.T) {
	r := Repetition{Kind: "repetition", Cell: "uniformization"}
	const few, many = 4_000_000_000, 4_000_002_000
	r.add(samplers.Result{Events: few}, 0)
	r.add(samplers.Result{Events: many, Index: 1}, 0)
	line := reftest.Must(json.Marshal(r))(t)
	var again Repetition
	if err := json.Unmarshal(line, &again); err != nil || again.EventsSquared != r.EventsSquared {
		t.Fatalf("%s: %v", line, err)
	}
	s := summary([]Repetition{again}, true, 0.95)
	if s.Events.Mean != few+1000 || math.Abs(s.Events.SE-1000) > 10 {
		t.Errorf("events %v ± %v, want %v ± 1000", s.Events.Mean, s.Events.SE, float64(few+1000))
	}
}
