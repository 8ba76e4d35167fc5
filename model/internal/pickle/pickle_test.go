package pickle

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
)

// anything accepts every name and keeps its arguments.
type anything struct{ refuse string }

func (a anything) Import(g Global) error {
	if g.String() == a.refuse {
		return errors.New("refused")
	}
	return nil
}

func (anything) Call(f Global, args Tuple) (any, error) { return &Object{Class: f, Args: args}, nil }
func (anything) Persistent(id any) (any, error)         { return Tuple{"persistent", id}, nil }

// Python 3.11's pickle.loads returns the same, given the classes.
func TestLoad(t *testing.T) {
	dict := func(pairs ...any) *Dict {
		d := &Dict{}
		for i := 0; i < len(pairs); i += 2 {
			d.set(pairs[i], pairs[i+1])
		}
		return d
	}
	for _, c := range []struct {
		name, pickle string
		want         any
	}{
		{"None", "\x80\x02N.", nil},
		{"(True, False)", "\x80\x02\x88\x89\x86q\x00.", Tuple{true, false}},
		{"[0, 255, 65535, -1]", "\x80\x02]q\x00(K\x00K\xffM\xff\xffJ\xff\xff\xff\xffe.", &List{[]any{int64(0), int64(255), int64(65535), int64(-1)}}},
		{"2**40", "\x80\x02\x8a\x06\x00\x00\x00\x00\x00\x01.", int64(1) << 40},
		{"-2**40", "\x80\x02\x8a\x06\x00\x00\x00\x00\x00\xff.", int64(-1) << 40},
		{"2**63 - 1", "\x80\x02\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f.", int64(1<<63 - 1)},
		{"-2**63", "\x80\x02\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80.", int64(-1 << 63)},
		{"2**63", "\x80\x02\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x80\x00.", Huge{}},
		{"0 of protocol 1's LONG1", "\x80\x02\x8a\x00.", int64(0)},
		{"[True, False, 300, -2, 2**70], protocol 1", "]q\x00(I01\nI00\nM,\x01J\xfe\xff\xff\xffL1180591620717411303424L\ne.", &List{[]any{true, false, int64(300), int64(-2), Huge{}}}},
		{"2**40, protocol 1", "L1099511627776L\n.", int64(1) << 40},
		{"bytearray(b'ab'), protocol 5", "\x80\x05\x96\x02\x00\x00\x00\x00\x00\x00\x00ab\x94.", []byte("ab")},
		{"0.5", "\x80\x02G?\xe0\x00\x00\x00\x00\x00\x00.", 0.5},
		{"'é'", "\x80\x02X\x02\x00\x00\x00\xc3\xa9q\x00.", "é"},
		{"b'ab', protocol 3", "\x80\x03C\x02abq\x00.", []byte("ab")},
		{"{'a': {1: ()}}", "\x80\x02}q\x00X\x01\x00\x00\x00aq\x01}q\x02K\x01)ss.", dict("a", dict(int64(1), Tuple(nil)))},
		{"{'a': 1, 'b': 2}, protocol 4", "\x80\x04\x95\x11\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01a\x94K\x01\x8c\x01b\x94K\x02u.", dict("a", int64(1), "b", int64(2))},
		{"{1}, protocol 4", "\x80\x04\x95\x07\x00\x00\x00\x00\x00\x00\x00\x8f\x94(K\x01\x90.", &List{[]any{int64(1)}}},
		{"a key twice", "\x80\x02}(U\x01aK\x01U\x01aK\x02u.", dict("a", int64(2))},
		{"fractions.Fraction(1, 2), protocol 4", "\x80\x04\x95\x24\x00\x00\x00\x00\x00\x00\x00\x8c\tfractions\x94\x8c\x08Fraction\x94\x93\x94\x8c\x031/2\x94\x85\x94R\x94.",
			&Object{Class: Global{"fractions", "Fraction"}, Args: Tuple{"1/2"}}},
		{"an instance with a state", "\x80\x02cm\nC\nq\x00)\x81q\x01}q\x02X\x01\x00\x00\x00xq\x03K\x05sb.", &Object{Class: Global{"m", "C"}, State: dict("x", int64(5))}},
		{"a persistent id", "\x80\x02X\x01\x00\x00\x00kq\x00Q.", Tuple{"persistent", "k"}},
		{"what is left of a tuple that holds itself", "\x80\x02K\x07(K\x01K\x0210(0K\x03.", int64(3)},
	} {
		got, size, err := Load([]byte(c.pickle+"rest"), anything{})
		if err != nil || size != len(c.pickle) {
			t.Errorf("%s: %v, %d of %d bytes", c.name, err, size, len(c.pickle))
		} else if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %#v, want %#v", c.name, got, c.want)
		}
	}
}

// A list that contains itself is one list.
func TestCycle(t *testing.T) {
	v, _, err := Load([]byte("\x80\x02]q\x00h\x00a."), anything{})
	if list, ok := v.(*List); err != nil || !ok || len(list.Items) != 1 || list.Items[0] != v {
		t.Errorf("%T, %v", v, err)
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct{ pickle, want string }{
		{"\x80\x02cos\nsystem\n.", "refused"}, {"\x80\x02cos\nsystem", "too early"},
		{"\x80\x02K\x01K\x02a.", "not a list or dict"}, {"\x80\x02](K\x01K\x02u.", "not a list or dict"}, {"\x80\x02}(K\x01u.", "not a list or dict"},
		{"\x80\x02(K\x01)R.", "not a class or function"}, {"\x80\x02cm\nC\nK\x01R.", "not a class or function"},
		{"\x80\x02NNb.", "sets the state"}, {"\x80\x02N(a.", "empty stack"}, {"\x80\x02(.", "empty stack"}, {"\x80\x02r\x00\x00", "too early"},
		{"\x80\x01N.", "protocol 1"}, {"I1x\n.", "malformed integer"}, {"P1\n.", "0x50"}, {"N2.", "0x32"}, {"\xfe", "0xfe"}, {"", "too early"},
	} {
		v, _, err := Load([]byte(c.pickle), anything{refuse: "os.system"})
		reftest.Fails(t, err, c.want, c.pickle, v)
	}
}

// FuzzLoad checks that no pickle causes a panic or reports more bytes than there are.
func FuzzLoad(f *testing.F) {
	for _, s := range []string{"\x80\x02}q\x00X\x01\x00\x00\x00aq\x01}q\x02K\x01)ss.", "\x80\x02cm\nC\nq\x00)\x81q\x01}q\x02X\x01\x00\x00\x00xq\x03K\x05sb.",
		"\x80\x04\x95\x07\x00\x00\x00\x00\x00\x00\x00\x8f\x94(K\x01\x90.", "\x80\x02X\x01\x00\x00\x00kq\x00Q.", "\x80\x02\x88\x89\x86q\x00(10]h\x00\x8b\x01\x00\x00\x00\x07a."} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, n, err := Load(data, anything{})
		if err == nil && (n < 1 || n > len(data) || data[n-1] != '.') {
			t.Errorf("%d bytes of %d", n, len(data))
		}
		if err != nil && strings.Contains(fmt.Sprint(err), "\n") {
			t.Errorf("an error of several lines: %q", err)
		}
	})
}
