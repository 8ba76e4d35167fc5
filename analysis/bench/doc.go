// Package bench measures the cost of samplers and the quality they reach over a grid of settings:
// samplers × steps × temperature × batch × threads × length.
//
// [Cross] and [ParseCase] construct the grid. [Run] samples repetitions of its cells, in an order
// that is shuffled in each round, so that a machine that slows down does not favour a setting; in
// one round every cell samples with the same random streams. [Summarise] turns repetitions into a
// [Report], whose numbers have intervals. The report is written as a Markdown table, CSV or
// JSON.
//
// Times cover sampling only, from the first plan to the last token: not opening or warming up a
// model, and not measuring quality. Times are in seconds, memory in bytes, distances in nats or as
// probabilities.
//
// The package opens no model and writes no file: callers pass it networks and receive records as
// they are made.
package bench
