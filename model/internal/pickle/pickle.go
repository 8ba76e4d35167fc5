// Package pickle reads Python pickles of protocols 1 to 5 as plain data. Nothing that a pickle
// names is run: a class or a function is represented by its two names, and the caller of [Load]
// supplies the result of calling it. The caller must know every name, or the pickle is rejected.
//
// The time and memory for a pickle are bounded, whatever it contains: see [MaxBytes] and maxValues.
// Cycles are preserved; integers of more than 64 bits become [Huge]. Opcodes of protocol 0 that
// later protocols replaced are rejected.
package pickle

// Global is a class or function that a pickle names.
type Global struct{ Module, Name string }

// String returns MODULE.NAME.
func (g Global) String() string { return g.Module + "." + g.Name }

// Tuple is a tuple.
type Tuple []any

// List is a list or a set; several places may hold the same one.
type List struct{ Items []any }

// Dict is a dict in the order of its keys; several places may hold the same one.
type Dict struct {
	Keys, Values []any
	at           map[string]int // by keys that are text
}

// Get returns the value of a text key, nil if the key is absent.
func (d *Dict) Get(key string) any {
	if i, ok := d.at[key]; ok {
		return d.Values[i]
	}
	return nil
}

// set sets the value of a key. Only a text key replaces an earlier value: others are never looked
// up.
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

// Object represents an instance of a class: the arguments of the class and the state that was set.
// Items added to it are dropped.
type Object struct {
	Class Global
	Args  Tuple
	State any
}

// Huge represents an integer of more than 64 bits.
type Huge struct{}

// Names resolves what a pickle refers to. An error from any method ends the reading.
type Names interface {
	// Import is called for each class or function before any other method.
	Import(Global) error
	// Call returns the result of calling an imported class or function; it owns args.
	Call(f Global, args Tuple) (any, error)
	// Persistent returns the value for an identifier of something outside the pickle.
	Persistent(id any) (any, error)
}
