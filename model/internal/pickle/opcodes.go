package pickle

import (
	"fmt"
	"math"
	"math/bits"
)

// widths are the sizes in bytes of the number that follows an opcode.
var widths = map[byte]uint64{
	'K': 1, 'M': 2, 'J': 4, 0x8a: 1, 0x8b: 4, 'X': 4, 0x8c: 1, 0x8d: 8, 'U': 1, 'T': 4, 'C': 1, 'B': 4, 0x8e: 8, 0x96: 8,
	'q': 1, 'r': 4, 'h': 1, 'j': 4, 0x80: 1, 0x95: 8,
}

// step executes one opcode.
func (m *machine) step(op byte) {
	switch op {
	case 'X', 0x8c, 0x8d, 'U', 'T': // BINUNICODE, SHORT_BINUNICODE, BINUNICODE8, SHORT_BINSTRING, BINSTRING
		m.push(string(m.counted(widths[op])))
	case 'C', 'B', 0x8e, 0x96: // SHORT_BINBYTES, BINBYTES, BINBYTES8, BYTEARRAY8
		m.push(m.counted(widths[op]))
	case 0x8a, 0x8b: // LONG1, LONG4
		m.push(long(m.counted(widths[op])))
	case 'K', 'M': // BININT1, BININT2
		m.push(int64(m.number(widths[op])))
	case 'J': // BININT
		m.push(int64(int32(m.number(widths[op]))))
	case 'q', 'r': // BINPUT, LONG_BINPUT
		m.put(m.number(widths[op]))
	case 'h', 'j': // BINGET, LONG_BINGET
		m.get(m.number(widths[op]))
	case 0x80: // PROTO
		if n := m.number(widths[op]); n < 2 || n > 5 {
			m.fail(fmt.Errorf("a pickle of protocol %d: 2 to 5 are read", n))
		}
	case 0x95: // FRAME: only the number of bytes to read ahead.
		m.take(widths[op])
	case 'G': // BINFLOAT, whose bytes are in the other order
		m.push(math.Float64frombits(bits.ReverseBytes64(m.number(8))))
	case 'I', 'L': // INT, LONG
		m.decimal(m.line())
	case 'c': // GLOBAL
		module := m.line()
		m.global(module, m.line())
	default:
		m.simple(op)
	}
}

// simple executes an opcode without operands.
func (m *machine) simple(op byte) {
	switch op {
	case 'N': // NONE
		m.push(nil)
	case 0x88, 0x89: // NEWTRUE, NEWFALSE
		m.push(op == 0x88)
	case ']', 0x8f: // EMPTY_LIST, EMPTY_SET
		m.push(&List{})
	case '}': // EMPTY_DICT
		m.push(&Dict{})
	case '(': // MARK
		m.marks = append(m.marks, len(m.stack))
		m.values++
	case 0x94: // MEMOIZE
		m.put(uint64(len(m.memo)))
	case '0': // POP
		if len(m.stack) == m.floor() {
			m.popMark()
		} else {
			m.pop()
		}
	case '1': // POP_MARK
		m.popMark()
	case ')': // EMPTY_TUPLE
		m.push(Tuple(nil))
	case 0x85, 0x86, 0x87: // TUPLE1, TUPLE2, TUPLE3
		m.push(m.popN(int(op - 0x84)))
	case 't', 0x91: // TUPLE, FROZENSET
		m.push(m.popMark())
	case 'a': // APPEND
		m.extend(m.popN(1), false)
	case 's': // SETITEM
		m.extend(m.popN(2), true)
	case 'e', 'u', 0x90: // APPENDS, SETITEMS, ADDITEMS
		m.extend(m.popMark(), op == 'u')
	case 'R', 0x81: // REDUCE, NEWOBJ
		m.call()
	case 'b': // BUILD
		m.build()
	case 'Q': // BINPERSID
		id := m.pop()
		m.ask(func() (any, error) { return m.names.Persistent(id) })
	case 0x93: // STACK_GLOBAL
		t := m.popN(2)
		module, _ := t[0].(string)
		name, _ := t[1].(string)
		m.global(module, name)
	default:
		m.fail(fmt.Errorf("the pickle has the opcode %#02x, which torch does not write in protocols 2 to 5: save the weights again", op))
	}
}
