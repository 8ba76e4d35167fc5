package bound

import (
	"context"
	"fmt"

	"mdmgen/analysis/theory"
	"mdmgen/internal/plainjson"
)

// gumbelTable is the file of what Gumbel noise of low precision does to a draw: the
// wanted probability of each category beside the one that it is drawn with.
func (l *worldLines) gumbelTable(ctx context.Context, data []byte) ([]string, error) {
	var f struct {
		Truncated []struct {
			P []float64
			M float64
		} `json:"truncated_gumbel"`
		Finite []struct {
			Case string
			P    []float64
		} `json:"finite_precision"`
	}
	if err := plainjson.Unmarshal(data, &f); err != nil {
		return nil, err
	}
	if len(f.Truncated)+len(f.Finite) > 100 {
		return nil, fmt.Errorf("%d rows: at most 100", len(f.Truncated)+len(f.Finite))
	}
	for i, r := range f.Truncated {
		if err := drawLaw(r.P); err != nil {
			return nil, fmt.Errorf("field %q: row %d: p: %w", "truncated_gumbel", i, err)
		}
		if err := inRange("truncated_gumbel", i, "M", r.M, -5, 100); err != nil {
			return nil, err
		}
	}
	seen := make(map[string]bool)
	for i, r := range f.Finite {
		if err := drawLaw(r.P); err != nil {
			return nil, fmt.Errorf("field %q: row %d: p: %w", "finite_precision", i, err)
		}
		if r.Case == "" || len(r.Case) > 40 || seen[r.Case] {
			return nil, fmt.Errorf("field %q: row %d: case is %.40q: each row needs a name of its own", "finite_precision", i, r.Case)
		}
		seen[r.Case] = true
	}
	l.reported("gumbel.max", "the largest −log(−log u) with u a multiple of 2^(−24) below 1, beside that of 2^(−53)", "nats", theory.MaxGumbel(24), theory.MaxGumbel(53))
	for i, r := range f.Truncated {
		l.drawn(fmt.Sprintf("gumbel.truncated[%d].M=%.4g", i, r.M), "the wanted probability of a category beside that of argmax(log p + G), G a Gumbel variable given G ≤ M", r.P, theory.TruncatedGumbel(r.P, r.M))
	}
	laws := make([][3][]float64, len(f.Finite))
	if err := inParallel(ctx, 2*len(f.Finite), func(i int) {
		if i%2 == 0 {
			laws[i/2][1] = theory.Grid24(f.Finite[i/2].P)
		} else {
			laws[i/2][2] = theory.Mdlm32(f.Finite[i/2].P)
		}
	}); err != nil {
		return nil, err
	}
	for i, r := range f.Finite {
		laws[i][0] = theory.TruncatedGumbel(r.P, theory.MaxGumbel(24))
		for k, how := range []struct{ name, statement string }{
			{"truncated", "that of Gumbel noise cut off at float32's largest, 16.6355"},
			{"grid24", "that of Gumbel noise from 24-bit uniforms, exact otherwise"},
			{"mdlm32", "that of argmax p/(1e-10 − log(u+1e-10)) in float32, MDLM's draw"},
		} {
			l.drawn(fmt.Sprintf("gumbel.%s.%s", how.name, r.Case), "the wanted probability of a category beside "+how.statement, r.P, laws[i][k])
		}
	}
	return []string{
		"A draw by Gumbel noise in float32 lowers the temperature without saying so. mdmgen draws the plan first and tokens by inversion with 53-bit uniforms, and no column of MASK stands in the way.",
		"The wanted law and the drawn one are put side by side; no statement is judged.",
	}, nil
}

// drawn adds a line for each category.
func (l *worldLines) drawn(name, statement string, p, got []float64) {
	for i := range p {
		l.reported(fmt.Sprintf("%s[%d]", name, i), statement, "probability", p[i], got[i])
	}
}

// drawLaw says why p is no law of up to 16 categories without zeros.
func drawLaw(p []float64) error {
	if len(p) < 1 || len(p) > 16 {
		return fmt.Errorf("%d entries: must have 1 to 16", len(p))
	}
	for i, x := range p {
		if !(x >= 1e-12) {
			return fmt.Errorf("entry %d is %v: must be at least 1e-12", i, x)
		}
	}
	return law(p, len(p))
}
