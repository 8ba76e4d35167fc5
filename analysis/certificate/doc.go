// Package certificate bounds the distance between a sampler's law and first-hitting's on a network,
// at any length, from runs of first-hitting alone.
//
// The randomness of every plan is one uniform U_l per free position: first-hitting's order π
// is that of decreasing U, and every sampler with a plan, except one with its own order, cuts
// π into blocks. Let Z be U or, if that is tractable, π alone. Given Z, the probabilities of
// a text x under both samplers are products of rows along one order. With first-hitting's x
//
//	W = log P_N(x|Z) − log P_FHS(x|Z),
//	TV(P_FHS,P_N) ≤ E (1 − e^W)_+,  KL(P_FHS‖P_N) ≤ E[−W],
//
// since a mixture over Z is no further apart than its parts are on average.
// docs/research/certificates.md has the proof and the cases of equality.
//
// The rows for W are at positions that are revealed later, on canvases that first-hitting evaluates
// anyway. So a run takes d calls of one canvas each, as many as first-hitting itself, for any
// number of samplers, and only needs more positions. A time-conditioned network is also evaluated
// on the same canvases at the samplers' times.
package certificate
