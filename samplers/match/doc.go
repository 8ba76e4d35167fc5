// Package match keeps what is sampled inside a language: a regular expression, a JSON schema, a
// regular grammar or a list of choices becomes an automaton over bytes, and that one over the
// tokens of a vocabulary.
//
// A token is possible at a masked position if some completion of all masks is in the language, so
// that any order of reveals ends in a match. Positions that a call asks about together are drawn
// jointly, from the product of their rows restricted to the language: by filtering backwards over
// the canvas and drawing forwards. [Around] does that around any [samplers.Kernel] that draws from
// rows as they are.
//
// Restricting each reveal is another law than conditioning on a match: a row knows nothing of
// what later rows would have made impossible. [Law] is that sentence, for records.
package match

// Law is what a record says of a restricted run.
const Law = "each reveal is restricted to tokens with which the rest can still match: another law than conditioning the sampler on a match"
