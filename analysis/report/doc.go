// Package report holds the tables, plots, statements and laws in which packages bound and bench
// report results. It draws plots as SVG or PDF, and writes an HTML page with all of them, including
// the pictures and their numbers. The page uses neither a network nor a script.
//
// Functions that only read may be called by several goroutines.
package report
