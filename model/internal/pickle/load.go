package pickle

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
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
	err    error
}

var (
	errShort = errors.New("the pickle ends too early")
	errStack = errors.New("the pickle pops an empty stack")
)

// Load reads the pickle at the beginning of data. It returns the value and the size of the pickle
// in bytes. Numbers are int64, float64, bool or Huge; text is string, bytes are []byte, and None is
// nil; all other values are the types of this package or results of names.
func Load(data []byte, names Names) (value any, size int, err error) {
	m := &machine{names: names, data: data[:min(len(data), MaxBytes)], memo: map[uint32]any{}}
	for m.err == nil {
		op := m.number(1)
		switch {
		case m.err != nil && len(data) > MaxBytes:
			m.err = fmt.Errorf("the pickle has more than %d bytes", MaxBytes)
		case m.err != nil:
		case op == '.':
			if value = m.pop(); m.err == nil {
				return value, m.at, nil
			}
		default:
			m.step(byte(op))
		}
		if m.values > maxValues {
			m.fail(fmt.Errorf("the pickle has more than %d values", maxValues))
		}
	}
	return nil, 0, m.err
}

// fail keeps an error, if it is the first.
func (m *machine) fail(err error) {
	if m.err == nil {
		m.err = err
	}
}

// take returns the next n bytes.
func (m *machine) take(n uint64) []byte {
	if n > uint64(len(m.data)-m.at) {
		m.fail(errShort)
		return nil
	}
	b := m.data[m.at : m.at+int(n)]
	m.at += int(n)
	return b
}

// number reads a little-endian number of n bytes.
func (m *machine) number(n uint64) uint64 {
	var b [8]byte
	copy(b[:], m.take(n))
	return binary.LittleEndian.Uint64(b[:])
}

// counted reads bytes preceded by their count, a number of n bytes.
func (m *machine) counted(n uint64) []byte { return m.take(m.number(n)) }

// line reads up to the end of the line.
func (m *machine) line() string {
	line, _, ended := bytes.Cut(m.data[m.at:], []byte("\n"))
	if !ended {
		m.fail(errShort)
	}
	m.take(uint64(len(line) + 1))
	return string(line)
}

func (m *machine) push(v any) {
	m.stack = append(m.stack, v)
	m.values++
}

// floor returns the length that the stack must keep until its last mark is removed.
func (m *machine) floor() int {
	if len(m.marks) == 0 {
		return 0
	}
	return m.marks[len(m.marks)-1]
}

// pop takes the last value, and top leaves it.
func (m *machine) pop() any { return m.popN(1)[0] }

func (m *machine) top() any {
	v := m.pop()
	m.stack = append(m.stack, v)
	return v
}

// popN removes and returns the last n values.
func (m *machine) popN(n int) Tuple {
	from := len(m.stack) - n
	if from < m.floor() {
		m.fail(errStack)
		return make(Tuple, n)
	}
	t := append(Tuple(nil), m.stack[from:]...)
	m.stack = m.stack[:from]
	return t
}

// popMark removes and returns the values after the last mark.
func (m *machine) popMark() Tuple {
	if len(m.marks) == 0 {
		m.fail(errStack)
		return nil
	}
	t := m.popN(len(m.stack) - m.floor())
	m.marks = m.marks[:len(m.marks)-1]
	return t
}

func (m *machine) put(key uint64) {
	m.memo[uint32(key)] = m.top()
	m.values++
}

func (m *machine) get(key uint64) {
	v, ok := m.memo[uint32(key)]
	if !ok {
		m.fail(fmt.Errorf("the pickle refers to memo %d, which does not exist", key))
	}
	m.push(v)
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

// ask pushes what names says of what the pickle refers to, unless it has failed already.
func (m *machine) ask(of func() (any, error)) {
	if m.err != nil {
		return
	}
	v, err := of()
	if err != nil {
		m.fail(err)
	}
	m.push(v)
}

func (m *machine) global(module, name string) {
	g := Global{module, name}
	m.ask(func() (any, error) { return g, m.names.Import(g) })
}

// call pushes the result of calling the second-last value, a class or function, with the last.
func (m *machine) call() {
	t := m.popN(2)
	f, ok := t[0].(Global)
	args, tuple := t[1].(Tuple)
	if !ok || !tuple {
		m.fail(errors.New("the pickle calls a value that is not a class or function"))
	}
	m.ask(func() (any, error) { return m.names.Call(f, args) })
}

// build sets the state of the second-last value.
func (m *machine) build() {
	state := m.pop()
	switch v := m.top().(type) {
	case *Object:
		v.State = state
	case Global, nil, bool, int64, float64, string, []byte, Tuple, Huge:
		m.fail(errors.New("the pickle sets the state of a value without state"))
	}
	// Dicts and the values of Names need no state.
}

// extend adds values to the container below them, as pairs of key and value if paired.
func (m *machine) extend(values Tuple, paired bool) {
	m.values += len(values)
	switch v := m.top().(type) {
	case *Object:
		return
	case *List:
		if !paired {
			v.Items = append(v.Items, values...)
			return
		}
	case *Dict:
		if paired && len(values)%2 == 0 {
			for i := 0; i < len(values); i += 2 {
				v.set(values[i], values[i+1])
			}
			return
		}
	}
	m.fail(errors.New("the pickle adds to a value that is not a list or dict"))
}

// decimal pushes the number of INT, in which 00 and 01 mean false and true, or of LONG, which ends
// with L.
func (m *machine) decimal(text string) {
	if text == "00" || text == "01" {
		m.push(text == "01")
		return
	}
	n, err := strconv.ParseInt(strings.TrimSuffix(text, "L"), 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		m.push(Huge{})
	case err != nil:
		m.fail(errors.New("the pickle has a malformed integer"))
	default:
		m.push(n)
	}
}
