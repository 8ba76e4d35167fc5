package match

import (
	"regexp"
	"strings"
)

// Choices returns a pattern that matches each of texts.
func Choices(texts []string) string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = regexp.QuoteMeta(text)
	}
	return "(?:" + strings.Join(out, "|") + ")"
}
