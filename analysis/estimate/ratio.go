package estimate

import (
	"fmt"
	"math"
)

// Ratio estimates Σ sums / Σ weights, such as nats per token over windows, with the linearised
// variance of a ratio, computed from sums − ratio·weights. Units are the entries or, if cluster is
// not nil, the groups of entries with the same number in it, such as windows that overlap or come
// from one document. It panics if the lengths differ.
func Ratio(sums, weights []float64, cluster []int, confidence float64) Estimate {
	units, sizes := clustered(sums, weights, cluster)
	return mild.ratio(units, sizes, len(sums), confidence)
}

// NormalRatio is Ratio with Student's interval, for sums that are nearly normal, such as times.
func NormalRatio(sums, weights []float64, cluster []int, confidence float64) Estimate {
	units, sizes := clustered(sums, weights, cluster)
	return normal.ratio(units, sizes, len(sums), confidence)
}

// SkewedRatio is Ratio with the interval of [Skewed].
func SkewedRatio(sums, weights []float64, cluster []int, confidence float64) Estimate {
	units, sizes := clustered(sums, weights, cluster)
	return heavy.ratio(units, sizes, len(sums), confidence)
}

// clustered adds the entries of each cluster.
func clustered(sums, weights []float64, cluster []int) (units, sizes []float64) {
	if len(sums) != len(weights) || cluster != nil && len(cluster) != len(sums) {
		panic(fmt.Sprintf("estimate: %d sums, %d weights, %d clusters", len(sums), len(weights), len(cluster)))
	}
	if cluster == nil {
		return sums, weights
	}
	at := make(map[int]int)
	for i, c := range cluster {
		j, ok := at[c]
		if !ok {
			j = len(units)
			at[c], units, sizes = j, append(units, 0), append(sizes, 0)
		}
		units[j] += sums[i]
		sizes[j] += weights[i]
	}
	return units, sizes
}

// ratio estimates Σ sums / Σ weights of units with n entries.
func (t tail) ratio(sums, weights []float64, n int, confidence float64) Estimate {
	var top, bottom Sum
	for i := range sums {
		top.Add(sums[i])
		bottom.Add(weights[i])
	}
	mean, units := top.Value()/bottom.Value(), float64(len(sums))
	var ss, far float64
	for i := range sums {
		r := sums[i] - mean*weights[i]
		ss += r * r
		far = max(far, math.Abs(r))
	}
	return t.finish(mean, math.Sqrt(ss*units/(units-1))/bottom.Value(), far/bottom.Value(), n, len(sums), units-1, confidence)
}
