package checkpoint

import (
	"maps"
	"slices"
)

// Stored are the tensors of the weights, by plain name.
func (c *Checkpoint) Stored() []Tensor {
	var out []Tensor
	for _, name := range slices.Sorted(maps.Keys(c.tensors)) {
		t := c.tensors[name]
		t.Name = name
		out = append(out, t)
	}
	return out
}

// FileNames are the names of the files that the checkpoint is read from, the config first.
func (c *Checkpoint) FileNames() []string { return append([]string{configName}, c.names...) }
