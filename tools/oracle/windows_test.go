package oracle

import (
	"mdmgen/analysis/likelihood"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// windows recomputes a file of the schema mdm-windows/1: for each window, which is the whole
// canvas, the exact −log P of First-Hitting, the NELBO, the left-to-right chain, and −log P of grid
// samplers on N steps uniform in t from T to δ, α = e^(−t), with masks left (leave) or filled by
// one more call (denoise). Values are in nats, differences relative.
func windows(m *matcher, f *file) {
	in := inputs[struct {
		T, Delta float64
		// Windows are canvases of d tokens without context.
		Windows []struct {
			IDs  []int
			Grid []struct {
				Sampler string
				N       int
			}
		}
	}](m.t, f)
	e := reftest.Must(likelihood.New(f.net, likelihood.Options{}))(m.t)
	rows := list{}
	for i, win := range in.Windows {
		whole := likelihood.Whole(win.IDs)
		t, err := e.Table(m.t.Context(), whole, false)
		if err != nil {
			m.t.Fatalf("windows[%d]: %v", i, err)
		}
		grids := list{}
		for k, g := range win.Grid {
			s, err := catalog.New(catalog.Options{Sampler: g.Sampler, Steps: g.N, PlanOptions: catalog.PlanOptions{Grid: "uniform", Noise: "exp", T: (*catalog.Theta)(&in.T), Delta: (*catalog.Theta)(&in.Delta)}}, samplers.Spec{})
			if err != nil {
				m.t.Fatalf("windows[%d].grid[%d]: %v", i, k, err)
			}
			law := reftest.Must(e.Exact(m.t.Context(), whole, s))(m.t)
			grids = append(grids, object{"N": given{}, "leave": law.Endings.Leave, "denoise": law.Endings.Denoise})
		}
		rows = append(rows, object{
			"start": exempt{}, "ids": given{}, "grid": grids,
			"nelbo": t.NELBO(), "fhs": t.FHS(), "left_to_right": t.LeftToRight(),
		})
	}
	m.match("", f.doc, object{"d": len(in.Windows[0].IDs), "T": given{}, "delta": given{}, "windows": rows})
}
