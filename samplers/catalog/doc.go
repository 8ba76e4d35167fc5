// Package catalog is where samplers meet their names: [New] makes a [Sampler] of [Options] by its
// name, [Describe] and [Descriptors] have each sampler's law, cost, source and options, [AllOptions]
// the values of these, and [Settings] are what records keep. [Of] makes a sampler of a planner from
// outside, with all that those from here have.
//
// A sampler stands in a package of its own kind (plan, rank, remask), with its descriptor and
// constructor in the same file; its line in this package's table gives it its name.
package catalog
