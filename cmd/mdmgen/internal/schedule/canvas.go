package schedule

import (
	"cmp"
	"context"
	"fmt"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
	"mdmgen/model"
	"mdmgen/requests"
)

// blank returns the canvas of --length masks.
func (o *options) blank(f model.Facts) ([]int, error) {
	length := cmp.Or(o.length, f.Length-len(f.Frame))
	if f.Shift {
		return nil, exit.Usagef("schedule: the network predicts position l from row l−1, and has no row for the first: `mdmgen bound TEXT --context 1` has certificates after a first token")
	}
	c, err := requests.Layout{Facts: f}.Canvas(requests.Request{IDs: make([]*int, length)})
	if err != nil {
		return nil, exit.Usagef("--%s", err)
	}
	return c.Tokens, nil
}

// onCanvas opens the model and calls find with it and the canvas of --length masks.
func (o *options) onCanvas(ctx context.Context, s kit.Streams, find func(m model.Model, canvas []int) error) (err error) {
	m, err := o.model.Open(ctx, s, o.all)
	if err != nil {
		return err
	}
	defer kit.Closing(m, &err)
	canvas, err := o.blank(m.Facts())
	if err != nil {
		return err
	}
	return find(m, canvas)
}

// generating returns the command that samples by a setting, with the flags that override the
// model's facts.
func (o *options) generating(length int, setting string) string {
	out := fmt.Sprintf("mdmgen generate --model %s --length %d %s", kit.Quoted(o.model.Ref), length, setting)
	for _, fact := range o.model.Facts {
		out += " --set " + kit.Quoted("fact="+fact)
	}
	if o.model.Sidecar != "" {
		out += " --set " + kit.Quoted("sidecar="+o.model.Sidecar)
	}
	return out
}
