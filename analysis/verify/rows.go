package verify

import (
	"math"

	"mdmgen/analysis/estimate"
)

// comparedRow compares two distributions at a position.
type comparedRow struct {
	kl    float64 // KL(p‖q) in nats
	agree bool    // on the most probable token
}

// compare compares the distribution q with the reference p; columns that are not tokens are 0 in
// both. A KL below 0 by rounding counts as 0.
func compare(p, q []float64) comparedRow {
	var out comparedRow
	topP, topQ := 0, 0
	for k := range p {
		if p[k] > 0 {
			out.kl += p[k] * math.Log(p[k]/q[k])
		}
		if p[k] > p[topP] {
			topP = k
		}
		if q[k] > q[topQ] {
			topQ = k
		}
	}
	out.kl, out.agree = max(out.kl, 0), topP == topQ
	return out
}

// sums holds the sums over the rows of a band by window.
type sums struct {
	kl, agree, rows []float64
	greatest        float64
}

func (s *sums) add(x comparedRow) {
	w := len(s.rows) - 1
	s.rows[w]++
	s.kl[w] += x.kl
	s.greatest = max(s.greatest, x.kl)
	if x.agree {
		s.agree[w]++
	}
}

// band returns the summary of the rows; windows without rows do not count. If documents is not nil,
// windows with the same number in it are one unit.
func (s *sums) band(documents []int, confidence float64) Band {
	var kl, agree, rows []float64
	var cluster []int
	n := 0
	for w, r := range s.rows {
		if r > 0 {
			kl, agree, rows, n = append(kl, s.kl[w]), append(agree, s.agree[w]), append(rows, r), n+int(r)
			if documents != nil {
				cluster = append(cluster, documents[w])
			}
		}
	}
	return Band{
		Positions: n, Greatest: estimate.Number(s.greatest),
		KL: estimate.Ratio(kl, rows, cluster, confidence).Within(0, math.Inf(1)), Agreement: estimate.Ratio(agree, rows, cluster, confidence).Within(0, 1),
	}
}
