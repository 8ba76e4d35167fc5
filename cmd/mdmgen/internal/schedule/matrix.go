package schedule

import (
	"cmp"
	"context"
	"fmt"

	"mdmgen/analysis/interaction"
	"mdmgen/cmd/mdmgen/internal/canvas"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/model"
)

// matrixSchema names the layout of the output of schedule --matrix.
const matrixSchema = "mdmgen.matrix/1"

// matrixMeaning explains an interaction.
const matrixMeaning = "A row is the position that is revealed, a column one that is still masked: the mean KL, in nats, of the column's distribution after the reveal from the distribution before it. " +
	"Positions without interaction lose nothing when one call reveals both. If all rows are conditionals of one distribution, the two directions are equal."

// mostGaps is the maximum number of gaps, for a readable matrix. If a network has more than
// matrixTokens tokens, that many are drawn for each gap, with the seed matrixSeed.
const mostGaps, matrixTokens, matrixSeed = 64, 64, 1

// Matrix is the JSON output of schedule --matrix.
type Matrix struct {
	Schema     string         `json:"schema"`
	Provenance kit.Provenance `json:"provenance"`
	Meaning    string         `json:"meaning"`
	Template   string         `json:"template"`
	*interaction.Matrix
}

// gaps prints the interactions between the gaps of a template.
func (o *options) gaps(ctx context.Context, s kit.Streams) error {
	if o.format == "svg" {
		return exit.Usagef("--format svg: a matrix is printed as text or JSON")
	}
	lay := func(f model.Facts) ([]int, error) {
		var words setup.Tokenizer
		words.Flag()
		l := &canvas.Layout{Facts: f, Length: canvas.Length{Total: o.length}, Open: func() (canvas.Encoder, error) {
			t, err := words.Open(ctx, s, &o.model)
			switch {
			case setup.Lacks(err):
				return nil, exit.Missingf("--matrix: %s: write masks alone, such as {{4}}, or put tokenizer.json next to the model", err)
			case err != nil:
				return nil, err
			}
			return t, words.Fit(s, t, f)
		}}
		ids, err := l.Infill(o.matrix, o.length)
		switch {
		case err != nil && !exit.Coded(err):
			return nil, exit.Usagef("--matrix: %w", err)
		case err == nil && f.Shift && ids[0] == f.MaskID:
			return nil, exit.Usagef("--matrix: %s: begin the template with text", noFirstRow)
		}
		return ids, err
	}
	return o.onCanvas(ctx, s, lay, func(out *kit.Output, m model.Model, ids []int) error {
		spec := m.Spec()
		n, tokens := len(spec.Masked(ids)), matrixTokens
		if n < 2 || n > mostGaps {
			return exit.Usagef("--matrix: %d masks: must be in 2..%d", n, mostGaps)
		}
		if len(m.Facts().Excluded())+matrixTokens >= m.Facts().Columns {
			tokens = 0
		}
		bar := kit.NewBar(s, 1+n*cmp.Or(tokens, m.Facts().Columns), "measuring interactions", "canvases")
		got, err := interaction.MeasureMatrix(ctx, m, ids, interaction.MatrixConfig{Tokens: tokens, Seed: matrixSeed, OnCall: bar.Add})
		bar.Clear()
		if err != nil {
			return cmp.Or(ctx.Err(), fmt.Errorf("schedule: %w", fault.WithoutName(err)))
		}
		r := Matrix{Schema: matrixSchema, Provenance: kit.NewProvenance(m, nil), Meaning: matrixMeaning, Template: o.matrix, Matrix: got}
		return kit.PrintLine(out, o.format, r, r.text())
	})
}

func (r *Matrix) text() string {
	how, digits := "all tokens", "%.3f\t"
	if r.Tokens > 0 {
		digits = "%.2g\t" // which errors of a tenth support
		how = fmt.Sprintf("%d drawn tokens each", r.Tokens)
	}
	head := fmt.Sprintf("interactions  %d positions, %s, %d canvases; asymmetry %s\n\n", len(r.Positions), how, r.Canvases, r.Asymmetry)
	t := kit.NewTable(true)
	fmt.Fprint(t, "revealed\t")
	for _, l := range r.Positions {
		fmt.Fprintf(t, "%d\t", l)
	}
	fmt.Fprintln(t)
	worst := 0.0
	for i, l := range r.Positions {
		fmt.Fprintf(t, "%d\t", l)
		for j, nats := range r.Nats[i] {
			if i == j {
				fmt.Fprint(t, "–\t")
				continue
			}
			fmt.Fprintf(t, digits, nats)
			worst = max(worst, r.SE[i][j])
		}
		fmt.Fprintln(t)
	}
	errors := ""
	if worst > 0 {
		errors = fmt.Sprintf("\nstandard errors up to %.1g\n", worst)
	}
	return head + t.String() + errors + "\n" + kit.Wrap(r.Meaning, kit.Width, "")
}
