//go:build !race

package samplers_test

// lawDraws is the number of sequences of each chi-square test.
const lawDraws = 20000
