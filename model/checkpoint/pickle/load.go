package pickle

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

const (
	// MaxBytes is the most that is read of a pickle. Those of published checkpoints have about 100
	// KB, with a tokenizer about 3 MB.
	MaxBytes = 16 << 20
	// maxValues bounds the values, uses of values and memo entries, each about 100 bytes: published
	// checkpoints have about 20,000.
	maxValues = 1 << 19
)

// machine is the stack machine that executes a pickle.
type machine struct {
	names  Names
	data   []byte
	at     int
	stack  []any
	marks  []int // lengths of the stack
	memo   map[uint32]any
	values int
}

var (
	errShort = errors.New("the pickle ends too early")
	errStack = errors.New("the pickle takes from an empty stack")
)

// Load reads the pickle at the beginning of data. It returns the value and the size of the pickle
// in bytes. Numbers are int64, float64, bool or Huge; text is string, bytes are []byte, and None is
// nil; all other values are the types of this package or results of names.
func Load(data []byte, names Names) (value any, size int, err error) {
	m := &machine{names: names, data: data[:min(len(data), MaxBytes)], memo: map[uint32]any{}}
	for {
		op, err := m.take(1)
		if err != nil && len(data) > MaxBytes {
			err = fmt.Errorf("the pickle has more than %d bytes", MaxBytes)
		}
		if err == nil && op[0] == '.' {
			value, err = m.pop()
			if err == nil {
				return value, m.at, nil
			}
		}
		if err == nil {
			err = m.step(op[0])
		}
		if err == nil && m.values > maxValues {
			err = fmt.Errorf("the pickle has more than %d values", maxValues)
		}
		if err != nil {
			return nil, 0, err
		}
	}
}

// take returns the next n bytes.
func (m *machine) take(n uint64) ([]byte, error) {
	if n > uint64(len(m.data)-m.at) {
		return nil, errShort
	}
	b := m.data[m.at : m.at+int(n)]
	m.at += int(n)
	return b, nil
}

// number reads a little-endian number of n bytes.
func (m *machine) number(n uint64) (uint64, error) {
	var b [8]byte
	read, err := m.take(n)
	copy(b[:], read)
	return binary.LittleEndian.Uint64(b[:]), err
}

// counted reads bytes preceded by their count, a number of n bytes.
func (m *machine) counted(n uint64) ([]byte, error) {
	count, err := m.number(n)
	if err != nil {
		return nil, err
	}
	return m.take(count)
}

// line reads up to the end of the line.
func (m *machine) line() (string, error) {
	i := bytes.IndexByte(m.data[m.at:], '\n')
	if i < 0 {
		return "", errShort
	}
	b, err := m.take(uint64(i + 1))
	return string(b[:i]), err
}

func (m *machine) push(v any) error {
	m.stack = append(m.stack, v)
	m.values++
	return nil
}

// floor returns the length that the stack must keep until its last mark is removed.
func (m *machine) floor() int {
	if len(m.marks) == 0 {
		return 0
	}
	return m.marks[len(m.marks)-1]
}

func (m *machine) pop() (any, error) {
	v, err := m.top()
	if err == nil {
		m.stack = m.stack[:len(m.stack)-1]
	}
	return v, err
}

func (m *machine) top() (any, error) {
	if len(m.stack) <= m.floor() {
		return nil, errStack
	}
	return m.stack[len(m.stack)-1], nil
}

// popN removes and returns the last n values.
func (m *machine) popN(n int) (Tuple, error) {
	if len(m.stack)-n < m.floor() {
		return nil, errStack
	}
	from := len(m.stack) - n
	t := append(Tuple(nil), m.stack[from:]...)
	m.stack = m.stack[:from]
	return t, nil
}

// popMark removes and returns the values after the last mark.
func (m *machine) popMark() (Tuple, error) {
	if len(m.marks) == 0 {
		return nil, errStack
	}
	t, err := m.popN(len(m.stack) - m.floor())
	m.marks = m.marks[:len(m.marks)-1]
	return t, err
}

func (m *machine) put(key uint64) error {
	v, err := m.top()
	m.memo[uint32(key)] = v
	m.values++
	return err
}

func (m *machine) get(key uint64) error {
	v, ok := m.memo[uint32(key)]
	if !ok {
		return fmt.Errorf("the pickle refers to memo %d, which is not there", key)
	}
	return m.push(v)
}

// long decodes a little-endian integer in two's complement.
func long(b []byte) any {
	if len(b) > 8 {
		return Huge{}
	}
	var v int64
	for i := range b {
		v |= int64(b[i]) << (8 * i)
	}
	if n := len(b); n > 0 && n < 8 && b[n-1] >= 0x80 {
		v -= 1 << (8 * n)
	}
	return v
}

func (m *machine) global(module, name string) error {
	g := Global{module, name}
	if err := m.names.Import(g); err != nil {
		return err
	}
	return m.push(g)
}

// call pushes the result of calling the second-last value, a class or function, with the last.
func (m *machine) call() error {
	t, err := m.popN(2)
	if err != nil {
		return err
	}
	f, ok := t[0].(Global)
	args, tuple := t[1].(Tuple)
	if !ok || !tuple {
		return errors.New("the pickle calls a value that is not a class or function")
	}
	v, err := m.names.Call(f, args)
	if err != nil {
		return err
	}
	return m.push(v)
}

// build sets the state of the second-last value.
func (m *machine) build() error {
	state, err := m.pop()
	if err != nil {
		return err
	}
	v, err := m.top()
	if err != nil {
		return err
	}
	switch v := v.(type) {
	case *Object:
		v.State = state
	case Global, nil, bool, int64, float64, string, []byte, Tuple, Huge:
		return errors.New("the pickle sets the state of a value without state")
	}
	// Dicts and the values of Names need no state.
	return nil
}

// extend adds values to the container below them, as pairs of key and value if paired.
func (m *machine) extend(values Tuple, paired bool) error {
	v, err := m.top()
	if err != nil {
		return err
	}
	m.values += len(values)
	switch v := v.(type) {
	case *Object:
		return nil
	case *List:
		if !paired {
			v.Items = append(v.Items, values...)
			return nil
		}
	case *Dict:
		if paired && len(values)%2 == 0 {
			for i := 0; i < len(values); i += 2 {
				v.set(values[i], values[i+1])
			}
			return nil
		}
	}
	return errors.New("the pickle adds to a value that is not a list or dict")
}

// decimal pushes the number of INT, in which 00 and 01 mean false and true, or of LONG, which ends
// with L.
func (m *machine) decimal(text string) error {
	if text == "00" || text == "01" {
		return m.push(text == "01")
	}
	n, err := strconv.ParseInt(strings.TrimSuffix(text, "L"), 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return m.push(Huge{})
	}
	if err != nil {
		return errors.New("the pickle has a malformed integer")
	}
	return m.push(n)
}

func float(b []byte) float64 { return math.Float64frombits(binary.BigEndian.Uint64(b)) }
