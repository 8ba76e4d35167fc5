package estimate

import (
	"encoding/json"
	"math"
	"testing"

	"mdmgen/internal/reftest"
)

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		x    float64
		want string
	}{{1.25, "1.25"}, {math.Inf(1), `"inf"`}, {math.Inf(-1), `"-inf"`}, {math.NaN(), "null"}, {0, "0"}} {
		b, err := json.Marshal(Number(c.x))
		if err != nil || string(b) != c.want {
			t.Errorf("%v is written %s, %v, want %s", c.x, b, err, c.want)
		}
		var back Number
		if err := json.Unmarshal(b, &back); err != nil || math.Float64bits(float64(back)) != math.Float64bits(c.x) && !math.IsNaN(c.x) {
			t.Errorf("%s is read as %v, %v", b, back, err)
		}
	}
	for _, bad := range []string{`"x"`, `[]`, `true`} {
		var n Number
		reftest.Fails(t, json.Unmarshal([]byte(bad), &n), "", bad, "is read as", n)
	}
}

// TestEstimateJSON checks that infinite and unknown numbers remain distinct in JSON.
func TestEstimateJSON(t *testing.T) {
	for _, c := range []struct {
		e    Estimate
		want string
	}{
		{Estimate{Mean: math.Inf(1), SE: math.Inf(1), Lo: math.Inf(1), Hi: math.Inf(1), Confidence: 1}, `{"mean":"inf","se":null,"lo":"inf","hi":"inf","confidence":1,"n":0,"units":0}`},
		{Mean([]float64{2}, 0.95), `{"mean":2,"se":null,"lo":"-inf","hi":"inf","confidence":0.95,"n":1,"units":1,"warnings":["1 independent unit: no standard error"]}`},
	} {
		b, err := json.Marshal(c.e)
		if err != nil || string(b) != c.want {
			t.Errorf("%s, %v, want %s", b, err, c.want)
		}
		var back Estimate
		if err := json.Unmarshal(b, &back); err != nil || back.Mean != c.e.Mean || back.SE != c.e.SE || back.Lo != c.e.Lo || back.Hi != c.e.Hi {
			t.Errorf("%s is read as %+v, %v", b, back, err)
		}
	}
}
