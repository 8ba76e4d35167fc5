// Package interaction measures how much revealing one position tells about another, which decides
// what it costs to reveal both in one call. See package mdmgen/samplers/spread for what is made of
// it, and docs/research/interactions.md for the theory.
package interaction
