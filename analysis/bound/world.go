package bound

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"mdmgen/analysis/laws"
	"mdmgen/analysis/report"
	"mdmgen/internal/fault"
	"mdmgen/internal/plainfile"
	"mdmgen/model/world"
)

// maxWorldFile bounds a world file, in bytes.
const maxWorldFile = 64 << 20

// World puts the paper's statements beside each other on the world in the .json file
// at path, which has q0 and μ (mdm-laws-world/1). Everything is recomputed, by
// enumeration and quadrature; of what a world's file stores beside q0 and μ nothing is
// read but the ends of its grids. Where given is not empty the report is about those
// samplers in place of Euler, Tweedie and τ-leaping on two grids.
// Errors are one line and name the file. When ctx ends, the report has what was done.
func World(ctx context.Context, path string, given []Case) (Report, error) {
	data, err := plainfile.Named(ctx, path, maxWorldFile)
	var r Report
	if err == nil {
		r, err = parseWorld(ctx, data, given)
	}
	if err != nil {
		err = fault.Errorf("bound", "%s: %w", path, err)
	}
	return r, err
}

// parseWorld reports on a file's content.
func parseWorld(ctx context.Context, data []byte, given []Case) (Report, error) {
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
	var r Report
	if len(given) > 0 {
		r, err = reportGiven(ctx, w, file, given)
	} else {
		ends := ends{t: 5, delta: 0.01}
		if raw, ok := file.Extra("grids"); ok {
			ends.read(raw)
		}
		r, err = reportOn(ctx, w, file, ends)
	}
	r.World = file.Facts().Digest
	return r, err
}

// worldNotes stand on every report of a world.
func worldNotes(w *laws.World, grids string) []string {
	notes := []string{
		"Every number but a certificate is exact up to rounding: a sum over all states, or an integral whose quadrature error is below the tolerance named.",
		"Lines without a verdict are statements that hide constants or hold in a limit only; the numbers are put side by side.",
		grids,
	}
	if w.Timed() {
		notes = append(notes, "μ depends on time here: the collision bound, which is for denoisers that do not, is left out.")
	}
	return notes
}

// reportOn is the report of a world, on grids with the given ends.
func reportOn(ctx context.Context, w *laws.World, file *world.World, e ends) (Report, error) {
	notes := worldNotes(w, fmt.Sprintf("Grids run from T = %g to δ = %g. P_N is a sampler's law after N steps; what is still masked is filled by one more call unless a line says otherwise.", e.t, e.delta))
	var l worldLines
	fhs, nelbo := w.FHSLaw(), w.NELBO()
	l.losses(w, fhs, nelbo)
	l.proposition3(w)
	runs, err := newRuns(ctx, w, e)
	if err != nil {
		return l.report(notes), err
	}
	if err := l.theorem1(ctx, w, e, runs); err != nil {
		return l.report(notes), err
	}
	l.collisions(w, fhs, runs)
	if err := l.certified(ctx, file, e, fhs, runs); err != nil {
		return l.report(notes), err
	}
	l.slopes(fhs, runs)
	err = l.theorem3(ctx)
	r := l.report(notes)
	r.Plots = worldPlots(w, fhs, nelbo, runs)
	return r, err
}

// reportGiven is the report of a world with samplers that were asked for.
func reportGiven(ctx context.Context, w *laws.World, file *world.World, given []Case) (Report, error) {
	notes := worldNotes(w, "P_N is the law of a sampler as it is set: "+describe(given)+".")
	var l worldLines
	fhs, nelbo := w.FHSLaw(), w.NELBO()
	l.losses(w, fhs, nelbo)
	l.proposition3(w)
	var runs []givenRun
	list := []report.Law{lawOver(w.Space, "q0", w.Q0), lawOver(w.Space, "P_FHS", fhs)}
	var ended error
	for _, c := range given {
		if ended = ctx.Err(); ended != nil {
			break
		}
		r, err := runGiven(w, c)
		if err != nil {
			return l.report(notes), err
		}
		runs = append(runs, r)
		if r.left > 0 {
			list = append(list, lawOver(w.Space, c.String(), r.law))
		} else {
			list = append(list, lawOver(w.Space, c.String(), r.clean))
		}
	}
	plots := l.given(w, fhs, runs)
	if slices.ContainsFunc(runs, func(r givenRun) bool { return r.euler() && !r.paperEuler() }) {
		notes = append(notes, "Theorems 1 and 2 are about Euler in the paper's time, α = e^(−t): they have no lines for other noises.")
	}
	if ended == nil {
		ended = l.givenCertificates(ctx, file, fhs, runs)
	}
	if ended == nil {
		ended = l.theorem3(ctx)
	}
	r := l.report(notes)
	r.Laws, r.Plots = list, plots
	return r, ended
}

// report is the lines as a report.
func (l worldLines) report(notes []string) Report {
	return Report{Schema: Schema, Mode: "world", Notes: notes, Lines: l, Holds: l.hold()}
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
