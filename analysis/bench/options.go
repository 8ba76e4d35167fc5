package bench

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mdmgen/samplers"
)

// Keys of a setting that are not a sampler's.
const (
	KeySampler = "sampler"
	KeyLength  = "length"
	KeyBatch   = "batch"
	KeyThreads = "threads"
)

// The greatest values of a setting.
const (
	maxSteps   = 1 << 24
	maxBatch   = 1 << 20
	maxThreads = 4096
	maxLength  = 1 << 20
)

// An option is a key with the way to read and to write its values.
type option struct {
	key string
	// values reads a list in canonical form, one string a value.
	values func(text string) ([]string, error)
	set    func(s *Setting, value string)
	get    func(s Setting) string // "" where it is not given
}

// options are in the order in which a cross product takes them: what decides which
// others are used comes first, and what varies fastest in a table comes last.
var options = []option{
	words(samplers.FlagGrid, func(s *Setting) *string { return &s.Options.Grid }),
	words(samplers.FlagSizes, func(s *Setting) *string { return &s.Options.Sizes }),
	words(samplers.FlagNoise, func(s *Setting) *string { return &s.Options.Noise }),
	words(samplers.FlagOrder, func(s *Setting) *string { return &s.Options.Order }),
	words(samplers.FlagTau, func(s *Setting) *string { return &s.Options.Tau }),
	words(samplers.FlagFinish, func(s *Setting) *string { return &s.Options.Finish }),
	words(samplers.FlagScores, func(s *Setting) *string { return (*string)(&s.Options.Scores) }),
	words(samplers.FlagDraw, func(s *Setting) *string { return (*string)(&s.Options.Race) }),
	number(samplers.FlagKappa, math.SmallestNonzeroFloat64, math.MaxFloat64, func(s *Setting) *float64 { return &s.Options.Kappa }),
	pointer(samplers.FlagT, math.Inf(1), func(s *Setting) **float64 { return &s.Options.T }),
	pointer(samplers.FlagDelta, math.MaxFloat64, func(s *Setting) **float64 { return &s.Options.Delta }),
	pointer(samplers.FlagFloor, 1, func(s *Setting) **float64 { return &s.Options.Floor }),
	pointer(samplers.FlagTemperature, math.MaxFloat64, func(s *Setting) **float64 { return &s.Options.Temperature }),
	whole(samplers.FlagTopK, math.MaxInt32, func(s *Setting) *int { return &s.Options.TopK }),
	number(samplers.FlagTopP, math.SmallestNonzeroFloat64, 1, func(s *Setting) *float64 { return &s.Options.TopP }),
	whole(samplers.FlagLookahead, samplers.MostLookahead, func(s *Setting) *int { return &s.Options.Lookahead }),
	whole(samplers.FlagSteps, maxSteps, func(s *Setting) *int { return &s.Options.Steps }),
	whole(KeyLength, maxLength, func(s *Setting) *int { return &s.Length }),
	whole(KeyBatch, maxBatch, func(s *Setting) *int { return &s.Batch }),
	whole(KeyThreads, maxThreads, func(s *Setting) *int { return &s.Threads }),
}

// ofRun says whether a key is of a run, not of a sampler: every sampler uses it.
func ofRun(key string) bool { return key == KeyLength || key == KeyBatch || key == KeyThreads }

func find(key string) (option, bool) {
	for _, o := range options {
		if o.key == key {
			return o, true
		}
	}
	return option{}, false
}

// words are options whose values are names. A list of times, "theta:5,1,0", or of
// numbers, "4,2,1", is one value: a number that follows a number, or a name with a colon,
// belongs to it.
func words(key string, field func(*Setting) *string) option {
	return option{
		key: key,
		values: func(text string) ([]string, error) {
			var out []string
			list := false // the last value is a list of numbers
			for _, item := range strings.Split(strings.Join(strings.Fields(text), ""), ",") {
				if item == "" {
					return nil, fmt.Errorf("bench: %s %.40q: a value is empty", key, text)
				}
				_, err := strconv.ParseFloat(item, 64)
				if err == nil && list {
					out[len(out)-1] += "," + item
					continue
				}
				list = err == nil || strings.Contains(item, ":")
				if slices.Contains(out, item) {
					return nil, fmt.Errorf("bench: %s %.40q: %s stands there twice", key, text, item)
				}
				if out = append(out, item); len(out) > maxValues {
					return nil, fmt.Errorf("bench: %s: more than %d values", key, maxValues)
				}
			}
			return out, nil
		},
		set: func(s *Setting, value string) { *field(s) = value },
		get: func(s Setting) string { return *field(&s) },
	}
}

func whole(key string, most int, field func(*Setting) *int) option {
	return option{
		key: key,
		values: func(text string) ([]string, error) {
			values, err := Ints(text, 1, most)
			return texts(values, strconv.Itoa), named(key, err)
		},
		set: func(s *Setting, value string) { *field(s), _ = strconv.Atoi(value) },
		get: func(s Setting) string { return given(*field(&s) != 0, strconv.Itoa(*field(&s))) },
	}
}

func number(key string, least, most float64, field func(*Setting) *float64) option {
	return option{
		key: key,
		values: func(text string) ([]string, error) {
			values, err := Floats(text, least, most)
			return texts(values, shortest), named(key, err)
		},
		set: func(s *Setting, value string) { *field(s), _ = strconv.ParseFloat(value, 64) },
		get: func(s Setting) string { return given(*field(&s) != 0, shortest(*field(&s))) },
	}
}

// pointer is number where 0 is a value of its own.
func pointer(key string, most float64, field func(*Setting) **float64) option {
	return option{
		key: key,
		values: func(text string) ([]string, error) {
			values, err := Floats(text, 0, most)
			return texts(values, shortest), named(key, err)
		},
		set: func(s *Setting, value string) {
			x, _ := strconv.ParseFloat(value, 64)
			*field(s) = &x
		},
		get: func(s Setting) string {
			if p := *field(&s); p != nil {
				return shortest(*p)
			}
			return ""
		},
	}
}

func given(is bool, text string) string {
	if !is {
		return ""
	}
	return text
}

// shortest is the shortest text that reads back as x.
func shortest(x float64) string {
	if math.IsInf(x, 1) {
		return "inf"
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

func texts[T any](values []T, text func(T) string) []string {
	var out []string
	for _, v := range values {
		out = append(out, text(v))
	}
	return out
}

// named puts a key before an error's words.
func named(key string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("bench: %s: %s", key, strings.TrimPrefix(err.Error(), "bench: "))
}
