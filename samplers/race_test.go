//go:build race

package samplers_test

// lawDraws is the number of sequences of each chi-square test: the race detector
// looks at what goroutines share, for which few will do.
const lawDraws = 2000
