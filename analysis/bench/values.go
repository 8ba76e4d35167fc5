package bench

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"mdmgen/internal/fault"
)

// maxValues bounds the values of one list.
const maxValues = 4096

// rangeForm matches FIRST-LAST, FIRST-LAST+STEP or FIRST-LAST*FACTOR of nonnegative numbers.
var rangeForm = regexp.MustCompile(`^([0-9.]+(?:[eE][-+]?[0-9]+)?)-([0-9.]+(?:[eE][-+]?[0-9]+)?)(?:([+*])([0-9.]+(?:[eE][-+]?[0-9]+)?))?$`)

// Ints parses a list of whole numbers and ranges, each in least..most: "8,16,32", "8-1024*2" (8,
// 16, …, 1024), "4-16+4" (4, 8, 12, 16) and "4-6" (4, 5, 6). Values keep their order. It returns an
// error if a value appears twice, or a range is empty or does not advance.
func Ints(text string, least, most int) ([]int, error) {
	values, err := numbers(text, float64(least), float64(most), true)
	var out []int
	for _, v := range values {
		out = append(out, int(v))
	}
	return out, err
}

// numbers is [Ints] for numbers that need not be whole. "inf" is accepted if most is infinite.
func numbers(text string, least, most float64, whole bool) (out []float64, err error) {
	for _, item := range strings.Split(text, ",") {
		values, err := oneNumber(strings.TrimSpace(item), least, most, whole)
		if err != nil {
			return nil, err
		}
		out = append(out, values...)
	}
	seen := make(map[float64]bool)
	for _, v := range out {
		if seen[v] {
			return nil, fault.Errorf("bench", "%.60q: %v appears twice", text, v)
		}
		seen[v] = true
	}
	return out, nil
}

// oneNumber parses a number or a range.
func oneNumber(item string, least, most float64, whole bool) ([]float64, error) {
	m := rangeForm.FindStringSubmatch(item)
	if m == nil {
		v, err := parse(item, least, most, whole)
		return []float64{v}, err
	}
	first, err := parse(m[1], least, most, whole)
	last, err2 := parse(m[2], least, most, whole)
	if err := cmp.Or(err, err2); err != nil {
		return nil, err
	}
	if last < first || math.IsInf(last, 0) {
		return nil, fault.Errorf("bench", "range %.40q: is empty: the last number must be at least the first, and finite", item)
	}
	by, rule := 1.0, cmp.Or(m[3], "+")
	if m[4] != "" {
		if by, err = parse(m[4], 0, math.MaxFloat64, whole); err != nil {
			return nil, err
		}
	}
	if rule == "+" && !(by > 0) || rule == "*" && (!(by > 1) || first == 0) {
		return nil, fault.Errorf("bench", "range %.40q: does not move: add more than 0, or multiply more than 0 by more than 1", item)
	}
	var out []float64
	for k := 0; ; k++ {
		v := first + float64(k)*by
		if rule == "*" {
			v = first * math.Pow(by, float64(k))
		}
		// 12 digits: 0.1 + 2·0.1 becomes 0.3, and rounding does not miss a last value.
		v = round12(v)
		if v > last || math.IsInf(v, 1) {
			return out, nil
		}
		if len(out) == maxValues || len(out) > 0 && v == out[len(out)-1] {
			return nil, fault.Errorf("bench", "range %.40q: more than %d values", item, maxValues)
		}
		out = append(out, v)
	}
}

func round12(x float64) float64 {
	if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
		return x
	}
	v, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 12, 64), 64)
	return v
}

// parse parses one number in least..most.
func parse(text string, least, most float64, whole bool) (float64, error) {
	within := fmt.Sprintf("in %.16g..%.16g", least, most)
	if most == math.MaxFloat64 {
		within = fmt.Sprintf("of at least %g", least)
	}
	if whole {
		n, err := strconv.ParseInt(text, 10, 54)
		if err != nil || float64(n) < least || float64(n) > most {
			return 0, fault.Errorf("bench", "%.40q is not a whole number %s: give numbers, or a range such as 8-64*2 or 4-16+4", text, within)
		}
		return float64(n), nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= least && v <= most) {
		return 0, fault.Errorf("bench", "%.40q is not a number %s: give numbers, or a range such as 0.5-1+0.1", text, within)
	}
	return v, nil
}
