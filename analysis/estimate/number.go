package estimate

import (
	"encoding/json"
	"fmt"
	"math"
)

// Number is a float64 with a JSON form for every value: a number, "inf" or "-inf" if infinite, and
// null if unknown (NaN).
type Number float64

// MarshalJSON writes a number, "inf", "-inf" or null.
func (n Number) MarshalJSON() ([]byte, error) {
	switch x := float64(n); {
	case math.IsInf(x, 1):
		return []byte(`"inf"`), nil
	case math.IsInf(x, -1):
		return []byte(`"-inf"`), nil
	case math.IsNaN(x):
		return []byte("null"), nil
	default:
		return json.Marshal(x)
	}
}

// UnmarshalJSON reads what MarshalJSON wrote, bit for bit.
func (n *Number) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case `"inf"`:
		*n = Number(math.Inf(1))
	case `"-inf"`:
		*n = Number(math.Inf(-1))
	case "null":
		*n = Number(math.NaN())
	default:
		var x float64
		if err := json.Unmarshal(b, &x); err != nil {
			return fmt.Errorf("estimate: %.40s is not a number, \"inf\", \"-inf\" or null", b)
		}
		*n = Number(x)
	}
	return nil
}
