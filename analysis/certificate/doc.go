// Package certificate bounds how far the law of a sampler is from first-hitting's on a
// network, at any length, from runs of first-hitting alone.
//
// One uniform U_l a free position is all the randomness of every plan: positions in falling
// order of U are first-hitting's order π, and every sampler with a plan, but for one with an
// order of its own, cuts π into blocks. So given Z, which is U or, where that is tractable,
// π alone, the probabilities of a text x under both are made of rows along one order. With
// first-hitting's x
//
//	W = log P_N(x|Z) − log P_FHS(x|Z),
//	TV(P_FHS,P_N) ≤ E (1 − e^W)_+,  KL(P_FHS‖P_N) ≤ E[−W],
//
// since a mixture over Z is no further apart than its parts are on average.
// docs/research/certificates.md has the proof, and says when there is equality.
//
// The rows that W takes are at positions that are revealed later, on canvases that
// first-hitting asks anyway. So a run takes d calls of one canvas each, as many as
// first-hitting itself, for any number of samplers; only the positions asked for are more.
// A time-conditioned network is asked on the same canvases at the samplers' times too.
//
// [Search] looks for the cheapest sampler within a distance.
package certificate
