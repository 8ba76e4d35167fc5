package match

import (
	"context"
	"encoding/binary"
	"fmt"
	"regexp/syntax"
	"slices"
	"unicode"

	"mdmgen/internal/fault"
)

// The bounds of a pattern: on the states of its automaton, of 1 KiB each, and on the instructions
// in all states together.
const (
	maxStates = 1 << 14
	maxWork   = 1 << 24
)

// dfa is an automaton over bytes. State 0 is dead.
type dfa struct {
	next   [][256]int32
	accept []bool
	start  int32
}

// thread is a possible state of a match: an instruction, and the form of the rest of its character.
type thread uint64

func at(pc, form int32) thread { return thread(pc)<<32 | thread(form) }

func (t thread) pc() uint32  { return uint32(t >> 32) }
func (t thread) form() int32 { return int32(t) }

// compiler builds an automaton from a program by the subset construction on threads.
type compiler struct {
	prog    *syntax.Prog
	forms   forms
	dfa     dfa
	known   map[string]int32
	sets    [][]thread
	seen    []int   // by instruction, the number of the closure that reached it
	firsts  []int32 // by instruction, the form of its characters
	closure int
	work    int
}

// parse builds an automaton from a regular expression, which must match the whole text.
func parse(ctx context.Context, pattern string) (*dfa, error) {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, refuse(pattern, "%s", err.(*syntax.Error).Code)
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, refuse(pattern, "%v", err)
	}
	c := &compiler{prog: prog, forms: forms{edges: make([][]edge, 1), known: make(map[string]int32)}, known: map[string]int32{"": 0}, seen: make([]int, len(prog.Inst))}
	for i := range prog.Inst {
		in := &prog.Inst[i]
		if in.Op == syntax.InstEmptyWidth && syntax.EmptyOp(in.Arg)&^(syntax.EmptyBeginText|syntax.EmptyEndText) != 0 {
			return nil, refuse(pattern, `\b, \B and line anchors are not supported: write the characters`)
		}
		c.firsts = append(c.firsts, c.forms.of(runesOf(in), 0))
	}
	c.dfa.next, c.dfa.accept, c.sets = make([][256]int32, 1), make([]bool, 1), make([][]thread, 1)
	c.dfa.start = c.state(c.follow(nil, uint32(prog.Start), syntax.EmptyBeginText))
	for s := int32(1); int(s) < len(c.sets); s++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c.step(s)
		if len(c.sets) > maxStates || c.work >= maxWork {
			return nil, refuse(pattern, "its automaton has more than %d states, or they overlap too much: make repeats smaller, or alternatives fewer", maxStates)
		}
	}
	return &c.dfa, nil
}

func refuse(pattern, format string, args ...any) error {
	return fault.Errorf("match", "pattern %.60q: %s", pattern, fmt.Sprintf(format, args...))
}

// follow appends the threads that an instruction leads to without a byte, at the beginning or the end
// of the text. An unmet end-of-text condition, or a match, is a separate thread, which no byte follows.
func (c *compiler) follow(to []thread, pc uint32, where syntax.EmptyOp) []thread {
	c.closure++
	stack := []uint32{pc}
	for len(stack) > 0 {
		pc, stack = stack[len(stack)-1], stack[:len(stack)-1]
		if c.seen[pc] == c.closure {
			continue
		}
		c.seen[pc] = c.closure
		c.work++
		switch in := &c.prog.Inst[pc]; in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			stack = append(stack, in.Arg, in.Out)
		case syntax.InstCapture, syntax.InstNop:
			stack = append(stack, in.Out)
		case syntax.InstEmptyWidth:
			switch syntax.EmptyOp(in.Arg) {
			case where:
				stack = append(stack, in.Out)
			case syntax.EmptyEndText:
				to = append(to, at(int32(pc), 0))
			}
		case syntax.InstMatch:
			to = append(to, at(int32(pc), 0))
		case syntax.InstFail:
		default:
			to = append(to, at(int32(pc), c.firsts[pc]))
		}
	}
	return to
}

// ends reports whether a thread is a match at the end of the text.
func (c *compiler) ends(t thread) bool {
	return slices.ContainsFunc(c.follow(nil, t.pc(), syntax.EmptyEndText), func(t thread) bool { return c.prog.Inst[t.pc()].Op == syntax.InstMatch })
}

// state returns the number of a set of threads, 0 for the empty set.
func (c *compiler) state(set []thread) int32 {
	slices.Sort(set)
	set = slices.Compact(set)
	key, _ := binary.Append(nil, binary.LittleEndian, set) // Numbers cannot fail.
	s, ok := c.known[string(key)]
	if !ok {
		s = int32(len(c.sets))
		c.known[string(key)] = s
		c.sets, c.dfa.next = append(c.sets, set), append(c.dfa.next, [256]int32{})
		c.dfa.accept = append(c.dfa.accept, slices.ContainsFunc(set, c.ends))
		c.work += len(set)
	}
	return s
}

// step computes the transitions of a state: bytes between two cuts lead to one state.
func (c *compiler) step(s int32) {
	var cut [257]bool
	for _, t := range c.sets[s] {
		for _, e := range c.forms.edges[t.form()] {
			cut[e.lo], cut[int(e.hi)+1] = true, true
		}
	}
	var to [256][]thread // by the first byte after a cut
	for _, t := range c.sets[s] {
		for _, e := range c.forms.edges[t.form()] {
			c.work++
			for b := int(e.lo); b <= int(e.hi) && c.work < maxWork; b++ {
				switch {
				case !cut[b]:
				case e.form > 0:
					to[b] = append(to[b], at(int32(t.pc()), e.form))
					c.work++
				default:
					to[b] = c.follow(to[b], c.prog.Inst[t.pc()].Out, 0)
				}
			}
		}
	}
	var next int32
	for b := range to {
		if cut[b] {
			next = c.state(to[b])
		}
		c.dfa.next[s][b] = next
	}
}

// runesOf returns the ranges of characters of an instruction.
func runesOf(in *syntax.Inst) []rune {
	switch {
	case in.Op == syntax.InstRuneAny:
		return []rune{0, unicode.MaxRune}
	case in.Op == syntax.InstRuneAnyNotNL:
		return []rune{0, '\n' - 1, '\n' + 1, unicode.MaxRune}
	case len(in.Rune) != 1:
		return in.Rune
	}
	out := []rune{in.Rune[0], in.Rune[0]}
	if syntax.Flags(in.Arg)&syntax.FoldCase != 0 {
		for r := unicode.SimpleFold(in.Rune[0]); r != in.Rune[0]; r = unicode.SimpleFold(r) {
			out = append(out, r, r)
		}
	}
	return out
}
