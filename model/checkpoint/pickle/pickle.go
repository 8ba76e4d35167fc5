// Package pickle reads Python pickles of protocols 1 to 5 as plain data. Nothing that a
// pickle names is run: a class or a function is its two names, and what a call of it
// gives is for the caller of [Load] to say, who must know it, or the pickle is refused.
//
// The work and the memory of a pickle are bounded, whatever it holds: see [MaxBytes] and
// maxValues. Cycles are kept as they are; integers of more than 64 bits become [Huge].
// Opcodes of protocol 0 that later ones replaced are refused by name.
package pickle

// Global is a class or function that a pickle names.
type Global struct{ Module, Name string }

func (g Global) String() string { return g.Module + "." + g.Name }

// Tuple is a tuple.
type Tuple []any

// List is a list or a set; several places may hold the same one.
type List struct{ Items []any }

// Dict is a dict in the order of its keys; several places may hold the same one.
type Dict struct {
	Keys, Values []any
	at           map[string]int // of keys that are text
}

// Get returns the value of a key that is text, nil where it is not there.
func (d *Dict) Get(key string) any {
	if i, ok := d.at[key]; ok {
		return d.Values[i]
	}
	return nil
}

// set gives a key its value. Only a key that is text replaces what it had: others are
// never looked up.
func (d *Dict) set(key, value any) {
	s, text := key.(string)
	if i, ok := d.at[s]; text && ok {
		d.Values[i] = value
		return
	}
	if text {
		if d.at == nil {
			d.at = map[string]int{}
		}
		d.at[s] = len(d.Keys)
	}
	d.Keys, d.Values = append(d.Keys, key), append(d.Values, value)
}

// Object stands for an instance of a class: what the class was called with and the state
// that was set. Items that are added to it are forgotten.
type Object struct {
	Class Global
	Args  Tuple
	State any
}

// Huge stands for an integer of more than 64 bits.
type Huge struct{}

// Names decides on what a pickle refers to. An error of any of them ends the reading.
type Names interface {
	// Import is asked for each class or function before anything else of it is.
	Import(Global) error
	// Call gives what a call of an imported class or function makes; args belong to it.
	Call(f Global, args Tuple) (any, error)
	// Persistent gives what an identifier of something outside of the pickle stands for.
	Persistent(id any) (any, error)
}
