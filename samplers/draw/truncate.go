package draw

import "slices"

// weights sets c.p to exp((x−top)/temperature), or 0 if the token is not kept, and returns the sum
// in ascending order of columns.
func (c *Categorical) weights(row Row, top, temperature float64) float64 {
	c.p = slices.Grow(c.p[:0], c.columns)[:c.columns]
	var sum float64
	for _, s := range c.allowed {
		sum += row.into(c.p, s, top, temperature)
	}
	if c.draw.Truncates() {
		sum = c.truncate(sum)
	}
	return sum
}

// truncate sets all weights but the kept ones to 0 and returns the sum of the kept. Equal weights
// are taken in ascending order of their columns. A heap yields the greatest weights one by one,
// since only a few of many are needed.
func (c *Categorical) truncate(sum float64) float64 {
	c.heap, c.kept = c.heap[:0], c.kept[:0]
	for _, s := range c.allowed {
		for i := s.from; i < s.to; i++ {
			if c.p[i] > 0 {
				c.heap = append(c.heap, i)
			}
		}
	}
	most := len(c.heap)
	if c.draw.TopK > 0 {
		most = min(most, c.draw.TopK)
	}
	for i := len(c.heap)/2 - 1; i >= 0; i-- {
		c.sift(i)
	}
	byP := c.draw.TopP > 0 && c.draw.TopP < 1
	limited := most < len(c.heap)
	var taken float64
	for len(c.kept) < most {
		i := c.pop()
		c.kept = append(c.kept, i)
		if taken += c.p[i]; byP && !limited && taken >= c.draw.TopP*sum {
			break
		}
	}
	if byP && limited {
		// top-p applies to the tokens that top-k kept, and their sum is known only now.
		whole := taken
		taken = 0
		for n, i := range c.kept {
			if taken += c.p[i]; taken >= c.draw.TopP*whole {
				c.kept = c.kept[:n+1]
				break
			}
		}
	}
	return c.keepTo(c.kept[len(c.kept)-1])
}

// keepTo sets to 0 the weights of all columns after last in the order of before. It returns the sum
// of the others, in ascending order of columns.
func (c *Categorical) keepTo(last int) float64 {
	var sum float64
	for _, s := range c.allowed {
		for i := s.from; i < s.to; i++ {
			if c.before(last, i) {
				c.p[i] = 0
			}
			sum += c.p[i]
		}
	}
	return sum
}

// before orders columns by decreasing weight, then by increasing id.
func (c *Categorical) before(i, j int) bool {
	if c.p[i] != c.p[j] {
		return c.p[i] > c.p[j]
	}
	return i < j
}

func (c *Categorical) pop() int {
	h := c.heap
	first, last := h[0], len(h)-1
	h[0] = h[last]
	c.heap = h[:last]
	c.sift(0)
	return first
}

func (c *Categorical) sift(i int) {
	h := c.heap
	for {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if child+1 < len(h) && c.before(h[child+1], h[child]) {
			child++
		}
		if !c.before(h[child], h[i]) {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}
