package world

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// rowReader reads nested lists of a known shape and keeps the first error, so
// that nothing is allocated for a list that is not as long as it must be.
type rowReader struct {
	dec *json.Decoder
	err error
}

func (r *rowReader) token() json.Token {
	if r.err != nil {
		return nil
	}
	t, err := r.dec.Token()
	if err != nil {
		r.err = jsonError(err)
	}
	return t
}

func (r *rowReader) open() {
	if t := r.token(); r.err == nil && t != json.Delim('[') {
		r.err = fmt.Errorf("%s where a list must begin", inWords(t))
	}
}

func (r *rowReader) close() {
	if t := r.token(); r.err == nil && t != json.Delim(']') {
		r.err = errors.New("the list is too long")
	}
}

// row reads one distribution into dst, or a null where empty is set.
func (r *rowReader) row(dst []float64, empty bool) {
	if empty {
		if t := r.token(); r.err == nil && t != nil {
			r.err = fmt.Errorf("%s at a visible position: must be null", inWords(t))
		}
		return
	}
	r.open()
	var sum float64
	for a := range dst {
		t := r.token()
		if r.err != nil {
			return
		}
		q, ok := t.(float64)
		if !ok || !(q >= 0) || q > 1+rowTolerance {
			r.err = fmt.Errorf("entry %d is %s: must be one of %d probabilities", a, inWords(t), len(dst))
			return
		}
		dst[a] = q
		sum += q
	}
	r.close()
	if r.err == nil && math.Abs(sum-1) > rowTolerance {
		r.err = fmt.Errorf("the probabilities sum to %v: must be 1 within %v", sum, rowTolerance)
	}
}
