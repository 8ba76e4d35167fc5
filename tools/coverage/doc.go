// Package coverage is a test that counts how often 95 % intervals that commands print hold the truth. It repeats the
// studies behind the commands on worlds, prints a table, and fails if fewer than 93.5 % hold it, less for two.
// From the repository's root:
//
//	go test ./tools/coverage -v -timeout 0 -seeds 2000
//
// The truth is the mean of the estimates, which have no bias, of all seeds at the greatest number of
// samples. 2,000 seeds take ten minutes of processor time.
package coverage
