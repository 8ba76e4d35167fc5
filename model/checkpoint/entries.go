package checkpoint

import (
	"slices"

	"mdmgen/model/facts"
)

// Entry is a tensor of a checkpoint's files.
type Entry struct {
	Tensor
	// Parameter is the network's parameter or table that it fills, "" if it is not used.
	Parameter string
}

// Entries lists every tensor in the files once: those of the network in the order of its
// construction, then the unused ones by name. Every parameter has an entry.
func (c *Checkpoint) Entries() []Entry {
	var list []Entry
	used := map[string]bool{}
	add := func(parameter string) {
		if t, ok := c.tensors[parameter]; ok {
			list = append(list, Entry{t, parameter})
			used[t.Name] = true
		}
	}
	for s := range c.Config.Tensors() {
		add(s.Name)
	}
	add(rotaryTable)
	for _, t := range c.stored {
		if t.Data == nil || !used[t.Name] {
			list = append(list, Entry{Tensor: t})
		}
	}
	return list
}

// FileNames returns the names of the files that the checkpoint is read from, the config first.
func (c *Checkpoint) FileNames() []string { return slices.Clone(c.digests) }

// Unused returns the names of the tensors in the files that the network does not have.
func (c *Checkpoint) Unused() []string {
	var names []string
	for _, e := range c.Entries() {
		if e.Parameter == "" {
			names = append(names, facts.Plain(e.Name))
		}
	}
	return names
}
