// Package bench measures what samplers cost and what their steps buy, over a grid
// of settings: samplers × steps × temperature × batch × threads × length.
//
// [Cross] and [ParseCase] make the grid. [Run] samples repetitions of its cells in
// an order that is shuffled anew in each round, so that a machine that gets slower
// does not favour a setting; in one round every cell samples with the same random
// streams. [Summarise] turns repetitions into a [Report], whose numbers carry
// intervals, and the report is written as a Markdown table, CSV, JSON or the
// lines that benchstat reads, which compares two runs.
//
// What is timed is sampling alone: from the first plan to the last token. Opening
// a model and warming it up are not in it, and neither is anything that measures
// quality. Times are in seconds, memory in bytes, distances in nats or as
// probabilities.
//
// The package opens no model and writes no file: networks are handed to it, and
// records are handed out as they are made.
package bench
