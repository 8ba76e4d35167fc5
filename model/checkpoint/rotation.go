package checkpoint

import (
	"fmt"
	"math"

	"mdmgen/internal/plainjson"
)

// Yarn stretches rotary positions to texts longer than those of a first training (YaRN, Peng et al.
// 2023, arXiv 2309.00071). It is zero for positions as they are.
type Yarn struct {
	// Factor divides slow frequencies: those that turn at most Slow times in Original positions. Those
	// that turn at least Fast times stay. The ends are whole numbers of pairs if Whole.
	Factor, Fast, Slow float64
	Original           int
	Whole              bool
	// Scale is a factor of all queries and keys.
	Scale float64
}

// QueryScale multiplies queries at position p by 1 + Beta·ln(1 + ⌊p/Original⌋), as LLaMA 4 does. It is
// zero if nothing does.
type QueryScale struct {
	Beta     float64
	Original int
}

// At returns the factor at a position.
func (q QueryScale) At(position int) float64 {
	if q.Beta == 0 {
		return 1
	}
	return 1 + q.Beta*math.Log1p(float64(position/q.Original))
}

// rotation reads an object with the settings of rotary positions, except their base. The formulas and
// defaults are those of transformers, and of mlx-vlm for m-scales.
func (c *Config) rotation(o plainjson.Object) error {
	kind := "default"
	for _, key := range []string{"type", "rope_type"} {
		o.May(key, &kind)
	}
	original := c.Positions
	o.May("original_max_position_embeddings", &original)
	if o.May("llama_4_scaling_beta", &c.QueryScale.Beta); c.QueryScale.Beta != 0 {
		c.QueryScale.Original = original
	}
	switch kind {
	case "default":
	case "yarn":
		y := Yarn{Fast: 32, Slow: 1, Original: original, Whole: true}
		o.Need("factor", &y.Factor)
		o.May("beta_fast", &y.Fast)
		o.May("beta_slow", &y.Slow)
		o.May("truncate", &y.Whole)
		one, all := 1.0, 0.0
		o.May("mscale", &one)
		o.May("mscale_all_dim", &all)
		m := func(a float64) float64 { return 0.1*a*math.Log(max(y.Factor, 1)) + 1 }
		y.Scale = m(one) / m(all)
		o.May("attention_factor", &y.Scale)
		c.Yarn = y
	default:
		return fmt.Errorf("rotary positions of type %.40q are not supported yet", kind)
	}
	return known(o, []string{"max_position_embeddings"})
}

// unstretched returns an error if an object with the settings of rotary positions has more than a base.
func unstretched(o plainjson.Object) error {
	var c Config
	err := c.rotation(o)
	if err == nil && c != (Config{}) {
		err = fmt.Errorf("%srope_type: rotary positions of type \"yarn\" are not supported yet in this family, nor llama_4_scaling_beta", o.Path)
	}
	return err
}

// rotationFault returns the first problem with the rotation, "" if there is none.
func (c Config) rotationFault() string {
	y := c.Yarn
	switch {
	case c.QueryScale.Beta != 0 && !(math.Abs(c.QueryScale.Beta) <= 1e3 && c.QueryScale.Original >= 1):
		return fmt.Sprintf("llama_4_scaling_beta is %v for %d positions: must be at most 1000 for at least one", c.QueryScale.Beta, c.QueryScale.Original)
	case y == Yarn{}:
	case !(y.Factor >= 1 && y.Factor <= 1e6 && y.Fast > 0 && y.Slow > 0 && y.Slow <= y.Fast && y.Fast <= 1e6 && y.Original >= 1 && y.Original <= maxLength && y.Scale > 0 && y.Scale <= 1e3):
		return fmt.Sprintf("yarn has factor %v, beta_fast %v, beta_slow %v, attention_factor %v and %d original positions: must be at least 1, above 0, at most beta_fast, above 0 and in 1..%d", y.Factor, y.Fast, y.Slow, y.Scale, y.Original, maxLength)
	}
	return ""
}

// stretched returns the frequency of pair j that yarn makes of an own one.
func (c Config) stretched(j int, own float64) float64 {
	y, size := c.Yarn, float64(c.RotarySize())
	if y == (Yarn{}) {
		return own
	}
	pair := func(turns float64) float64 { // that turns so often
		return size * math.Log(float64(y.Original)/(turns*2*math.Pi)) / (2 * math.Log(c.rotaryBase()))
	}
	from, to := pair(y.Fast), pair(y.Slow)
	if y.Whole {
		from, to = math.Floor(from), math.Ceil(to)
	}
	from, to = max(from, 0), min(to, size-1)
	if from == to {
		to += 0.001
	}
	slow := min(max((float64(j)-from)/(to-from), 0), 1)
	return own/y.Factor*slow + own*(1-slow)
}
