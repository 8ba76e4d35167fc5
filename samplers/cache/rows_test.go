package cache_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/cache"
	"mdmgen/samplers/draw"
)

// forced is a kernel that reveals given tokens in a given order, some together, and multiplies
// their probabilities.
type forced struct {
	samplers.Kernel
	order [][]int
	token []int
	p     *float64
}

func (f forced) Start(c *samplers.Canvas, d *draw.Numbers) (samplers.Decoder, error) {
	return f.Fill(c, d, nil)
}

func (f forced) Fill(*samplers.Canvas, *draw.Numbers, []int) (samplers.Decoder, error) {
	*f.p = 1
	return &forcing{forced: f}, nil
}

type forcing struct {
	forced
	call int
}

func (f *forcing) Ask(a *samplers.Ask) bool {
	if f.call == len(f.order) {
		return false
	}
	a.Rows = append(a.Rows, samplers.AskRow{Positions: f.order[f.call]})
	return true
}

func (f *forcing) Take(r samplers.Rows, e *samplers.Edit) error {
	for i, l := range f.order[f.call] {
		p := make([]float64, r.Columns())
		if err := r.Probabilities(p, 0, i); err != nil {
			return err
		}
		*f.p *= p[f.token[l]]
		e.Set(l, f.token[l], math.Log(p[f.token[l]]))
	}
	f.call++
	return nil
}

// started is a kernel as a method.
type started struct{ samplers.Kernel }

func (s started) Start(c *samplers.Canvas, d *draw.Numbers) (samplers.Decoder, error) {
	return samplers.Start(s.Kernel, c, d)
}

// run returns the probability of a path and its audit.
func run(t *testing.T, net *toy, how cache.Settings, canvas []int, order [][]int, token []int) (p float64, audit *samplers.Audit) {
	t.Helper()
	how.Audit, how.Planned = 1, true
	var m samplers.Method = forced{order: order, token: token, p: &p}
	if how.Kind != "" {
		m = started{cache.Around(m.(samplers.Kernel), how)}
	}
	r, _ := fill(t, net, m, canvas, 1, samplers.Config{})
	return p, r[0].Audit
}

// TestKeptRows compares a sequence's rows with those of a network that is queried directly.
func TestKeptRows(t *testing.T) {
	t.Parallel()
	net := newToy(3, 8)
	canvas := masks(net, 8, 1)
	token := []int{1, 0, 2, 1, 1, 0, 2, 2}
	order := [][]int{{3}, {6}, {1}, {5}, {2}, {7}, {4}}
	for _, test := range []struct {
		how  cache.Settings
		want []string // the rows of each call, "" for all
	}{
		{cache.Settings{Kind: cache.Window, W: 0, Refresh: 4}, []string{"", "3 6", "1 6", "1 5", "", "2 7", "4 7"}},
		{cache.Settings{Kind: cache.Window, W: 0}, []string{"", "3 6", "1 6", "1 5", "2 5", "2 7", "4 7"}},
		{cache.Settings{Kind: cache.Window, W: 0, Round: 2}, []string{"", "0 1 3 6", "1 2 3 6", "1 4 5 6", "0 2 5 7", "1 2 3 7", "4 5 6 7"}},
		{cache.Settings{Kind: cache.Window, W: 1}, []string{"", "2 3 4 5 6 7", "0 1 2 5 6 7", "0 1 2 4 5 6", "1 2 3 4 5 6", "0 1 2 3 6 7", "1 3 4 5 6 7"}},
		{cache.Settings{Kind: cache.Dual, Block: 4}, []string{"", "", "", "", "", "", "4 5 6 7"}},
		{cache.Settings{Kind: cache.Dual, Block: 7, Prompt: 1}, []string{"", "1 2 3 4 5 6 7", "1 2 3 4 5 6 7", "1 2 3 4 5 6 7", "1 2 3 4 5 6 7", "1 2 3 4 5 6 7", "1 2 3 4 5 6 7"}},
	} {
		log := &logged{toy: net}
		var p float64
		m := started{cache.Around(forced{order: order, token: token, p: &p}, test.how)}
		reftest.OK(t, reftest.Err(samplers.Fill(context.Background(), log, canvas, m, 1)))
		if !slices.Equal(log.rows, test.want) {
			t.Errorf("%+v: computes %q, want %q", test.how, log.rows, test.want)
		}
	}
}

// logged records the rows that calls compute.
type logged struct {
	*toy
	rows []string
}

func (n *logged) Rows(ctx context.Context, c samplers.Call) (draw.Row, error) {
	n.rows = append(n.rows, strings.Trim(fmt.Sprint(c.Compute), "[]"))
	return n.toy.Rows(ctx, c)
}
