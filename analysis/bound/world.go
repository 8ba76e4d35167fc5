package bound

import (
	"encoding/json"
	"fmt"
	"math"
	"os"

	"mdmgen/analysis/laws"
	"mdmgen/model/world"
)

// maxWorldFile bounds a world file, in bytes.
const maxWorldFile = 64 << 20

// World puts the paper's statements beside each other on the world in the .json file
// at path: one with q0 and μ (mdm-laws-world/1), or data with MASK and its exact
// score (mdm-laws-maskmass/1). Everything is recomputed from q0 and μ, by
// enumeration and quadrature; nothing else that the file stores is read but the ends of its
// grids. Errors are one line and name the file.
func World(path string) (Report, error) {
	r, err := worldReport(path)
	if err != nil {
		return Report{}, fmt.Errorf("bound: %s: %w", path, err)
	}
	return r, nil
}

func worldReport(path string) (Report, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Report{}, err
	}
	if info.Size() > maxWorldFile {
		return Report{}, fmt.Errorf("%d bytes: a world file has at most %d", info.Size(), maxWorldFile)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return Report{}, err
	}
	return parseWorld(data)
}

// parseWorld reports on a world file's content.
func parseWorld(data []byte) (Report, error) {
	var head struct{ Schema string }
	// Other faults are the parsers' to name.
	if err := json.Unmarshal(data, &head); err == nil {
		switch head.Schema {
		case "mdm-laws-maskmass/1":
			return maskWorldReport(data)
		case "mdm-laws-theorem3/1", "mdm-laws-scaling/1", "mdm-laws-gumbel/1":
			return Report{}, fmt.Errorf("schema %q is a table, not a world: recompute it with mdmgen verify", head.Schema)
		}
	}
	file, err := world.Parse(data)
	if err != nil {
		return Report{}, err
	}
	if err := small(file.Facts().Length, file.Facts().Columns); err != nil {
		return Report{}, err
	}
	w, err := laws.New(file)
	if err != nil {
		return Report{}, err
	}
	ends := ends{t: 5, delta: 0.01}
	if raw, ok := file.Extra("grids"); ok {
		ends.read(raw)
	}
	return reportOn(w, ends)
}

// reportOn is the report of a world, on grids with the given ends.
func reportOn(w *laws.World, e ends) (Report, error) {
	r := Report{Schema: Schema, Mode: "world", Notes: []string{
		"Every number is exact up to rounding: a sum over all states, or an integral whose quadrature error is below the tolerance named.",
		"Lines without a verdict are statements that hide constants or hold in a limit only; the numbers are put side by side.",
		fmt.Sprintf("Grids run from T = %g to δ = %g. P_N is a sampler's law after N steps; what is still masked is filled by one more call unless a line says otherwise.", e.t, e.delta),
	}}
	if w.Timed() {
		r.Notes = append(r.Notes, "μ depends on time here: the collision bound, which is for denoisers that do not, is left out.")
	}
	var l worldLines
	fhs, nelbo := w.FHSLaw(), w.NELBO()
	l.losses(w, fhs, nelbo)
	runs, err := newRuns(w, e)
	if err != nil {
		return Report{}, err
	}
	l.theorem1(w, e, runs)
	l.collisions(w, fhs, runs)
	l.slopes(fhs, runs)
	l.theorem3()
	r.Lines, r.Holds = l, l.hold()
	r.Plots = worldPlots(w, fhs, nelbo, runs)
	return r, nil
}

// small refuses worlds whose (2V+1)^d moves a step, or d! orders, are too many.
func small(d, v int) error {
	if d > 8 || float64(d)*math.Log(float64(2*v+1)) > math.Log(1e6) {
		return fmt.Errorf("d = %d and V = %d: too large to enumerate: d must be at most 8 and (2V+1)^d at most 10^6", d, v)
	}
	return nil
}

// ends are T and δ of a report's grids.
type ends struct{ t, delta float64 }

// read takes the ends of the file's first grid with 0 < δ < T < ∞, where there is one.
func (e *ends) read(raw json.RawMessage) {
	var grids []struct{ T, Delta *float64 }
	if json.Unmarshal(raw, &grids) != nil {
		return
	}
	for _, g := range grids {
		if g.T != nil && g.Delta != nil && *g.Delta > 1e-9 && *g.T > *g.Delta && *g.T < 100 {
			e.t, e.delta = *g.T, *g.Delta
			return
		}
	}
}
