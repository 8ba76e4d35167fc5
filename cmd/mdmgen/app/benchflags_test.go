package app

import (
	"regexp"
	"strings"
)

// measured matches the parts of bench's JSON that differ between equal runs.
var measured = regexp.MustCompile(`"(network_seconds|sampling_seconds|rest_seconds|total_seconds|tokens_per_second|in_step_tokens_per_second|seconds)": ?\{[^}]*\}|"(peak_bytes|started)": ?("[^"]*"|[0-9]+)`)

// figures matches the numbers in tables.
var figures = regexp.MustCompile(`[-+.0-9e± ]+|\?`)

// unmeasured removes times and memory from bench's results. Of a table it keeps only the beginning,
// without numbers, because the columns depend on times, too.
func unmeasured(stdout string) string {
	if strings.HasPrefix(stdout, "{") {
		return measured.ReplaceAllString(stdout, "")
	}
	text := figures.ReplaceAllString(stdout, "")
	return text[:min(len(text), 12)]
}
