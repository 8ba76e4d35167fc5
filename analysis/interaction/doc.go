// Package interaction measures how much information revealing one position gives about another,
// which determines the cost of revealing both in one call. Package mdmgen/samplers/spread uses
// these measurements, and docs/research/interactions.md has the theory.
package interaction
