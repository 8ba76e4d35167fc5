package checkpoint

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"mdmgen/internal/plainjson"
)

// Limits on a safetensors header. Published checkpoints stay far below: 169
// tensors in 17 kB for MDLM-small, a few hundred tensors for networks of 10¹⁰
// parameters. The format's own limit is 100 MB.
const (
	maxHeader  = 16 << 20
	maxTensors = 1 << 17
	maxRank    = 8
)

// entry is one tensor of a header: begin and end count bytes from the end of
// the header.
type entry struct {
	name       string
	dtype      Dtype
	shape      []int
	begin, end int64
}

// header is the parsed start of a safetensors file.
type header struct {
	metadata map[string]string
	entries  []entry // by begin, then end
	data     int64   // where the tensors' bytes begin in the file
}

// parseHeader reads the header of a safetensors file of size bytes, of which
// head is the beginning: 8 bytes of little-endian length and that many of JSON.
// It accepts only what the format allows: every byte after the header belongs
// to exactly one tensor, in agreement with that tensor's type and shape.
func parseHeader(head []byte, size int64) (header, error) {
	var h header
	if len(head) < 8 {
		return h, fmt.Errorf("%d bytes: too short for a safetensors file", size)
	}
	n := binary.LittleEndian.Uint64(head)
	switch {
	case n > maxHeader:
		return h, fmt.Errorf("header of %d bytes: at most %d are accepted; is this a safetensors file?", n, maxHeader)
	case n < 2 || int64(n) > size-8 || int64(n) > int64(len(head)-8):
		return h, fmt.Errorf("header of %d bytes in a file of %d: the file is truncated or not safetensors", n, size)
	}
	h.data = 8 + int64(n)
	if err := h.decode(head[8:h.data]); err != nil {
		return h, err
	}
	return h, h.checkOffsets(size - h.data)
}

// decode reads the JSON object.
func (h *header) decode(text []byte) error {
	if text[0] != '{' {
		return errors.New("header does not begin with '{': not a safetensors file")
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.Token() // the brace seen above
	seen := map[string]bool{}
	for dec.More() {
		name, err := key(dec)
		if err != nil {
			return err
		}
		if seen[name] {
			return fmt.Errorf("tensor %s: stands twice in the header", quoteName(name))
		}
		if len(seen) >= maxTensors {
			return fmt.Errorf("more than %d tensors in the header", maxTensors)
		}
		seen[name] = true
		if name == "__metadata__" {
			if err := dec.Decode(&h.metadata); err != nil {
				return fmt.Errorf("header: __metadata__ is not an object of strings: %w", plainjson.Plain(nil, err))
			}
			continue
		}
		e, err := decodeEntry(dec, name)
		if err != nil {
			return fmt.Errorf("tensor %s: %w", quoteName(name), err)
		}
		h.entries = append(h.entries, e)
	}
	if _, err := dec.Token(); err != nil {
		return fmt.Errorf("header: %w", plainjson.Plain(nil, err))
	}
	if rest := bytes.TrimRight(text[dec.InputOffset():], " "); len(rest) > 0 {
		return fmt.Errorf("header: %d bytes after the closing brace", len(rest))
	}
	return nil
}

// decodeEntry reads {"dtype":…,"shape":[…],"data_offsets":[b,e]}: these three
// keys, each once, and no other.
func decodeEntry(dec *json.Decoder, name string) (entry, error) {
	e := entry{name: name}
	if t, err := dec.Token(); err != nil {
		return e, plainjson.Plain(nil, err)
	} else if t != json.Delim('{') {
		return e, errors.New("its header entry is not an object")
	}
	var shape, offsets []int64
	seen := map[string]bool{}
	for dec.More() {
		k, err := key(dec)
		if err != nil {
			return e, err
		}
		if seen[k] {
			return e, fmt.Errorf("%s stands twice", quoteName(k))
		}
		seen[k] = true
		switch k {
		case "dtype":
			var s string
			err = dec.Decode(&s)
			e.dtype = Dtype(s)
		case "shape":
			err = dec.Decode(&shape)
		case "data_offsets":
			err = dec.Decode(&offsets)
		default:
			err = fmt.Errorf("unknown key %s", quoteName(k))
		}
		if err != nil {
			return e, fmt.Errorf("%s: %w", quoteName(k), plainjson.Plain(nil, err))
		}
	}
	if _, err := dec.Token(); err != nil {
		return e, plainjson.Plain(nil, err)
	}
	for _, k := range []string{"dtype", "shape", "data_offsets"} {
		if !seen[k] {
			return e, fmt.Errorf("%s is missing", k)
		}
	}
	if len(offsets) != 2 {
		return e, fmt.Errorf("data_offsets has %d numbers: must be 2", len(offsets))
	}
	e.begin, e.end = offsets[0], offsets[1]
	return e, e.setShape(shape)
}

// setShape checks type, shape and extent against each other.
func (e *entry) setShape(shape []int64) error {
	n, err := e.count(shape)
	if err != nil {
		return err
	}
	if want := n * int64(e.dtype.Size()); e.begin < 0 || e.end < e.begin || e.end-e.begin != want {
		return fmt.Errorf("data_offsets [%d %d] do not hold %s %v, which takes %d bytes", e.begin, e.end, e.dtype, shape, want)
	}
	return nil
}

// count checks type and shape and returns the number of elements.
func (e *entry) count(shape []int64) (int64, error) {
	if e.dtype.Size() == 0 {
		return 0, fmt.Errorf("dtype %s is not supported", quoteName(string(e.dtype)))
	}
	if len(shape) > maxRank {
		return 0, fmt.Errorf("shape has %d dimensions: at most %d", len(shape), maxRank)
	}
	n := uint64(1)
	e.shape = make([]int, len(shape))
	for i, d := range shape {
		hi, lo := bits.Mul64(n, uint64(d))
		if d < 0 || d > 1<<40 || hi != 0 || lo > 1<<50 {
			return 0, fmt.Errorf("shape %v is absurd", shape)
		}
		e.shape[i], n = int(d), lo
	}
	return int64(n), nil
}

// checkOffsets wants the tensors to fill the bytes after the header, one after
// the other, with neither gap nor overlap.
func (h *header) checkOffsets(size int64) error {
	slices.SortStableFunc(h.entries, func(a, b entry) int {
		if a.begin != b.begin {
			return int(min(max(a.begin-b.begin, -1), 1))
		}
		return int(min(max(a.end-b.end, -1), 1))
	})
	at := int64(0)
	for _, e := range h.entries {
		switch {
		case e.end > size:
			return fmt.Errorf("tensor %s: ends at byte %d of %d: the file is truncated or its header wrong: fetch or copy it again", quoteName(e.name), e.end, size)
		case e.begin < at:
			return fmt.Errorf("tensor %s: begins at byte %d, inside the one before it", quoteName(e.name), e.begin)
		case e.begin > at:
			return fmt.Errorf("tensor %s: begins at byte %d, %d bytes after the one before it", quoteName(e.name), e.begin, e.begin-at)
		}
		at = e.end
	}
	if at != size {
		return fmt.Errorf("%d bytes after the last tensor", size-at)
	}
	return nil
}

// key reads an object's next key.
func key(dec *json.Decoder) (string, error) {
	t, err := dec.Token()
	if err != nil {
		return "", fmt.Errorf("header: %w", plainjson.Plain(nil, err))
	}
	s, ok := t.(string)
	if !ok {
		return "", errors.New("header: not a JSON object")
	}
	return s, nil
}

// quoteName prints a name from a file on one line: as it stands where it is
// plain, else quoted; long ones are cut.
func quoteName(s string) string {
	const most = 120
	if len(s) > most {
		s = s[:most] + "…"
	}
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Sprintf("%q", s)
	}
	return s
}
