package tokenize

import (
	_ "embed"
	"strconv"
	"strings"
	"unicode"
)

//go:embed late.txt
var lateText string

var late = readLate(lateText)

// unicode.go explains the tables.
var (
	// lateLetters and lateNumbers were added in Unicode 15.1 and 16.
	lateLetters, lateNumbers = late["letter"], late["number"]
	// latePunct and lateFormat were added after Unicode 8.
	latePunct, lateFormat = late["punctuation"], late["format"]
	// lateMarks are nonspacing marks that were added after Unicode 8, or were not marks then.
	lateMarks = late["mark"]
	// lateOrder holds characters newer than the tables of the reference's normalizers: marks that
	// they neither reorder nor compose, and the parts of U+11938.
	lateOrder = late["order"]
)

// readLate reads lines FIRST..LAST ; CLASS, in order within a class.
func readLate(text string) map[string]*unicode.RangeTable {
	tables := map[string]*unicode.RangeTable{}
	for line := range strings.Lines(text) {
		span, class, _ := strings.Cut(strings.TrimSpace(line), " ; ")
		first, last, ok := strings.Cut(span, "..")
		if !ok {
			continue
		}
		lo, _ := strconv.ParseUint(first, 16, 32)
		hi, _ := strconv.ParseUint(last, 16, 32)
		if tables[class] == nil {
			tables[class] = new(unicode.RangeTable)
		}
		if t := tables[class]; hi < 1<<16 {
			t.R16 = append(t.R16, unicode.Range16{Lo: uint16(lo), Hi: uint16(hi), Stride: 1})
		} else {
			t.R32 = append(t.R32, unicode.Range32{Lo: uint32(lo), Hi: uint32(hi), Stride: 1})
		}
	}
	return tables
}
