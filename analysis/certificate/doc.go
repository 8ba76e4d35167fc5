// Package certificate bounds how far the law of a sampler is from first-hitting's on a
// network, at any length, from runs of first-hitting alone.
//
// One uniform U_l a free position is all the randomness of every plan: positions in falling
// order of U are first-hitting's order π, and every sampler with a plan, but for one with an
// order of its own, cuts π into blocks. So given U both laws are products of known rows
// along one order. With p_i the probability that first-hitting gives the i-th token of its
// own run and q_i what the sampler gives the same token,
//
//	W = Σ_i log(q_i/p_i),
//	TV(P_FHS,P_N) ≤ E (1 − e^W)_+,  KL(P_FHS‖P_N) ≤ E Σ_i KL(p_i‖q_i),
//
// expectations over runs of first-hitting, since a mixture over U is no further apart than
// its parts are on average. The first is never above E Σ_blocks (1 − e^(W_block))_+, the sum
// that an exchange block by block gives, nor above the collision bound. docs/certificates.md
// has the proof, and says when there is equality.
//
// What q_i needs are rows at positions that are revealed later, on canvases that
// first-hitting asks anyway. So a run takes d calls of one canvas each, as many as
// first-hitting itself, for any number of samplers; only the positions asked for are more.
// A time-conditioned network is asked on the same canvases at the samplers' times too.
package certificate
