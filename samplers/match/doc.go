// Package match restricts samples to a language. It compiles a regular expression, a JSON schema or
// a list of choices to an automaton over bytes, and this to one over the tokens of a vocabulary.
//
// A token is possible at a masked position if some completion of all masks is in the language, so
// any order of reveals ends in a match. The positions of one call are drawn jointly, from the
// product of their rows restricted to the language, by filtering backwards over the canvas and
// drawing forwards. [Around] wraps any [samplers.Kernel] that draws from unmodified rows.
//
// Restricting each reveal gives another law than conditioning on a match: a row does not account
// for what later rows would have made impossible. [Law] says so in records.
package match

// Law describes a restricted run in records.
const Law = "each reveal is restricted to tokens with which the rest can still match: another law than conditioning the sampler on a match"
