package pickle

import "fmt"

// refused are the opcodes that no pickle of protocol 1 or later needs.
var refused = map[byte]string{
	'i': "INST", 'o': "OBJ", 'P': "PERSID", 'F': "FLOAT", 'S': "STRING", 'V': "UNICODE", 'g': "GET", 'p': "PUT",
	'd': "DICT", 'l': "LIST", '2': "DUP", 0x82: "EXT1", 0x83: "EXT2", 0x84: "EXT4", 0x92: "NEWOBJ_EX", 0x97: "NEXT_BUFFER", 0x98: "READONLY_BUFFER",
}

// widths are the sizes in bytes of the number that follows an opcode.
var widths = map[byte]uint64{
	'K': 1, 'M': 2, 'J': 4, 0x8a: 1, 0x8b: 4, 'X': 4, 0x8c: 1, 0x8d: 8, 'U': 1, 'T': 4, 'C': 1, 'B': 4, 0x8e: 8, 0x96: 8,
	'q': 1, 'r': 4, 'h': 1, 'j': 4, 0x80: 1, 0x95: 8,
}

// step executes one opcode.
func (m *machine) step(op byte) error {
	switch op {
	case 'X', 0x8c, 0x8d, 'U', 'T': // BINUNICODE, SHORT_BINUNICODE, BINUNICODE8, SHORT_BINSTRING, BINSTRING
		b, err := m.counted(widths[op])
		if err != nil {
			return err
		}
		return m.push(string(b))
	case 'C', 'B', 0x8e, 0x96: // SHORT_BINBYTES, BINBYTES, BINBYTES8, BYTEARRAY8
		b, err := m.counted(widths[op])
		if err != nil {
			return err
		}
		return m.push(b)
	case 0x8a, 0x8b: // LONG1, LONG4
		b, err := m.counted(widths[op])
		if err != nil {
			return err
		}
		return m.push(long(b))
	case 'K', 'M', 'J', 'q', 'r', 'h', 'j', 0x80, 0x95:
		n, err := m.number(widths[op])
		if err != nil {
			return err
		}
		return m.numbered(op, n)
	case 'G': // BINFLOAT
		b, err := m.take(8)
		if err != nil {
			return err
		}
		return m.push(float(b))
	case 'I', 'L': // INT, LONG
		text, err := m.line()
		if err != nil {
			return err
		}
		return m.decimal(text)
	case 'c': // GLOBAL
		module, err := m.line()
		if err != nil {
			return err
		}
		name, err := m.line()
		if err != nil {
			return err
		}
		return m.global(module, name)
	}
	return m.simple(op)
}

// numbered executes an opcode with a number.
func (m *machine) numbered(op byte, n uint64) error {
	switch op {
	case 'q', 'r': // BINPUT, LONG_BINPUT
		return m.put(n)
	case 'h', 'j': // BINGET, LONG_BINGET
		return m.get(n)
	case 'J': // BININT
		return m.push(int64(int32(n)))
	case 0x80: // PROTO
		if n < 2 || n > 5 {
			return fmt.Errorf("a pickle of protocol %d: 2 to 5 are read", n)
		}
		return nil
	case 0x95: // FRAME: only the number of bytes to read ahead.
		return nil
	}
	return m.push(int64(n)) // BININT1, BININT2
}

// simple executes an opcode without operands.
func (m *machine) simple(op byte) error {
	var t Tuple
	var err error
	switch op {
	case 'N', 0x88, 0x89: // NONE, NEWTRUE, NEWFALSE
		return m.push(map[byte]any{'N': nil, 0x88: true, 0x89: false}[op])
	case ']', 0x8f: // EMPTY_LIST, EMPTY_SET
		return m.push(&List{})
	case '}': // EMPTY_DICT
		return m.push(&Dict{})
	case '(': // MARK
		m.marks = append(m.marks, len(m.stack))
		m.values++
		return nil
	case 0x94: // MEMOIZE
		return m.put(uint64(len(m.memo)))
	case '0': // POP
		if len(m.stack) == m.floor() {
			_, err = m.popMark()
		} else {
			_, err = m.pop()
		}
		return err
	case '1': // POP_MARK
		_, err = m.popMark()
		return err
	case ')', 0x85, 0x86, 0x87: // EMPTY_TUPLE, TUPLE1, TUPLE2, TUPLE3
		if t, err = m.popN(map[byte]int{')': 0, 0x85: 1, 0x86: 2, 0x87: 3}[op]); err != nil {
			return err
		}
		return m.push(t)
	case 't', 0x91: // TUPLE, FROZENSET
		if t, err = m.popMark(); err != nil {
			return err
		}
		return m.push(t)
	case 'a', 's': // APPEND, SETITEM
		if t, err = m.popN(map[byte]int{'a': 1, 's': 2}[op]); err != nil {
			return err
		}
		return m.extend(t, op == 's')
	case 'e', 'u', 0x90: // APPENDS, SETITEMS, ADDITEMS
		if t, err = m.popMark(); err != nil {
			return err
		}
		return m.extend(t, op == 'u')
	case 'R', 0x81: // REDUCE, NEWOBJ
		return m.call()
	case 'b': // BUILD
		return m.build()
	case 'Q': // BINPERSID
		id, err := m.pop()
		if err != nil {
			return err
		}
		v, err := m.names.Persistent(id)
		if err != nil {
			return err
		}
		return m.push(v)
	case 0x93: // STACK_GLOBAL
		if t, err = m.popN(2); err != nil {
			return err
		}
		module, _ := t[0].(string)
		name, _ := t[1].(string)
		return m.global(module, name)
	}
	if name := refused[op]; name != "" {
		return fmt.Errorf("the pickle has opcode %s: protocols 1 to 5 are read (of protocol 0 torch cannot load its own files): save the weights again", name)
	}
	return fmt.Errorf("the pickle has the unknown opcode %#02x", op)
}
