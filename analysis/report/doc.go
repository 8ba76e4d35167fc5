// Package report is what packages bound and bench say their findings in: tables, plots, lines
// of statements and laws. It draws plots as SVG or PDF, and a page of HTML that holds
// everything, its pictures and the numbers behind them included, and asks nothing of a
// network. The page needs no script.
//
// What only reads may be called by several goroutines.
package report
