// Package catalog makes samplers by name. [New] makes a [Sampler] from [Options]. [Describe] and
// [Descriptors] return each sampler's law, cost, source and options, [AllOptions] lists the options
// with their allowed values, and [Settings] are what records keep. [Of] makes a sampler, with the
// same methods, from a planner outside this module.
//
// A sampler is defined in the package of its kind (plan, rank, remask), with its descriptor and
// constructor in one file; an entry in this package's table registers it.
package catalog
