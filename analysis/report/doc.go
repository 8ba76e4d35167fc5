// Package report draws what packages bound and bench found: plots as SVG or PNG, and a page of HTML
// that holds everything, its pictures and the numbers behind them included, and asks nothing
// of a network. The page needs no script.
//
// Functions may be called by several goroutines and do not change what they are given.
package report
