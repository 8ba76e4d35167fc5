"""The integrals of Theorem 1 to 30 digits, for worlds that are hard for a quadrature.

    python3 tools/reference/eulerrate.py > analysis/laws/testdata/eulerrate.json
    python3 tools/reference/eulerrate.py --random 0 200                other worlds, in the same form

For each world it works out, step by step of a grid theta_0 > … > theta_N,

    sum_k ∫ E_{x ~ q_t} sum_{l,a} |R^(x, x with a at l) - R_t(x, x with a at l)| dt

from the definitions. R_t = q_t(y)/q_t(x) is the quotient of two marginals of the data under the noise. R^ is, in
"euler", the rate at which Euler's chain goes from x to y, had it been stopped at t: the probability that it is about to
make that reveal, over the probability of x; in "frozen" it is r(theta_k)·mu(x, theta_k). Worlds are doubles and are
taken exactly as they stand; everything else has 70 digits. Python's own library is enough; it takes ten minutes or so.
"""

import argparse
import itertools
import json
import math
import random
import sys
from decimal import Decimal, getcontext

getcontext().prec = 70
ZERO, ONE = Decimal(0), Decimal(1)
NODES = 28  # on panels that double: errors fall at least like 5^(-2·28)
FINEST = 110  # the first panel of a step is 2^-110 of it


class World:
    """q0[x0] over tuples of tokens; mu(x, lam)[l][a] of states, in which MASK is V."""

    def __init__(self, case):
        self.d, self.V = case["d"], case["V"]
        self.q0 = {x: Decimal(p) for x, p in zip(itertools.product(range(self.V), repeat=self.d), case["q0"]) if p}
        self.states = list(itertools.product(range(self.V + 1), repeat=self.d))
        self.tables = [dict(zip(self.states, case[n])) for n in ("mu0", "mu1") if n in case]
        self.sums = {}
        self.weight = [Decimal(case.get(n, 0)) for n in ("c", "p")]

    def masked(self, x):
        return [l for l in range(self.d) if x[l] == self.V]

    def mu(self, x, lam):
        w = self.weight[0] * lam ** self.weight[1] if len(self.tables) > 1 else ZERO
        mixed = lambda l, a: sum(v * Decimal(t[x][l][a]) for v, t in zip((1 - w, w), self.tables))
        return {l: [mixed(l, a) for a in range(self.V)] for l in self.masked(x)}

    def marginal(self, x, t):
        """q_t(x): each token of the data is kept with probability e^-t."""
        keep, total = (-t).exp(), ZERO
        for x0, p in self.q0.items():
            if all(b in (a, self.V) for a, b in zip(x0, x)):
                for b in x:
                    p *= 1 - keep if b == self.V else keep
                total += p
        return total

    def seen(self, x):
        """The probability that the data have the tokens of x."""
        if x not in self.sums:
            self.sums[x] = sum((p for x0, p in self.q0.items() if all(b in (a, self.V) for a, b in zip(x0, x))), ZERO)
        return self.sums[x]


def jumps(world, y, mu, h):
    """The states that Euler's step of reveal probability h leads to from y, with their probabilities."""
    options = []
    for l, a in enumerate(y):
        options.append([(a, ONE)] if a != world.V else [(b, h * m) for b, m in enumerate(mu[l])] + [(world.V, 1 - h)])
    for way in itertools.product(*options):
        p = ONE
        for _, q in way:
            p *= q
        yield tuple(b for b, _ in way), p


class Step:
    """Euler's step from theta, of the law of states with which it begins."""

    def __init__(self, world, law, theta):
        self.world, self.law, self.theta = world, law, theta
        self.r = 1 / (theta.exp() - 1)
        self.mu = {x: world.mu(x, 1 - (-theta).exp()) for x in world.states}
        self.polynomials = {}
        for x in world.states:
            if world.masked(x) and world.marginal(x, ONE) > 0:
                self.polynomials[x] = self.collect(x)

    def after(self, u):
        out = dict.fromkeys(self.world.states, ZERO)
        for y, q in self.law.items():
            if q:
                for x, p in jumps(self.world, y, self.mu[y], u * self.r):
                    out[x] += q * p
        return out

    def rate(self, x, l, a, u):
        """The probability flow from x to x with a at l, over the probability of x: of the ways to x, the
        reveal of l is due at rate r in a time that has not come with probability 1-h."""
        h, here, flow = u * self.r, ZERO, ZERO
        for y, q in self.law.items():
            if q:
                for z, p in jumps(self.world, y, self.mu[y], h):
                    if z == x:
                        here += q * p
                        flow += q * p * self.r / (1 - h) * self.mu[y][l][a]
        return flow / here if here else ZERO

    def collect(self, x):
        """The same sums over y, sorted by the number of reveals from y to x: coefficients of powers of h, for the
        probability of x without its factor (1-h)^masks and for each rate."""
        w = self.world
        here = [ZERO] * (w.d + 1)
        flows = {(l, a): [ZERO] * (w.d + 1) for l in w.masked(x) for a in range(w.V)}
        for y, q in self.law.items():
            if not q or any(b not in (a, w.V) for a, b in zip(x, y)):
                continue
            n = 0
            for l, b in enumerate(y):
                if b != x[l]:
                    n, q = n + 1, q * self.mu[y][l][x[l]]
            here[n] += q
            for (l, a), c in flows.items():
                c[n] += q * self.mu[y][l][a]
        return here, flows

    def differences(self, t, frozen, only=None):
        """q_t(x)·(R^ - R_t) for all x, l, a, or for the one whose number is given."""
        w, out, i = self.world, [], 0
        alpha = (-t).exp()
        weights = [alpha ** (w.d - m) * ((1 - alpha) ** m if m else 1) for m in range(w.d + 1)]
        h = (self.theta - t) * self.r
        powers = [ONE] + [h**n for n in range(1, w.d + 1)]
        here = lambda c: sum(b * p for b, p in zip(c, powers) if b)
        for x, (reach, flows) in self.polynomials.items():
            if only is not None and not i <= only < i + len(flows):
                i += len(flows)
                continue
            den = here(reach)
            for (l, a), flow in flows.items():
                if only is None or only == i:
                    if frozen:
                        rate = self.r * self.mu[x][l][a]
                    else:
                        rate = self.r / (1 - h) * here(flow) / den if den else ZERO
                    m = len(self.mu[x])
                    out.append(w.seen(x) * weights[m] * rate - w.seen(x[:l] + (a,) + x[l + 1:]) * weights[m - 1])
                i += 1
        return out

    def check(self, low):
        """What differences says, which sums by powers, against the definitions."""
        for share in (ONE / 3, ONE / 1000):
            u = (self.theta - low) * share
            t, i = self.theta - u, 0
            found = self.differences(t, False)
            for x, (_, flows) in self.polynomials.items():
                for l, a in flows:
                    q = self.world.marginal(x, t)
                    y = x[:l] + (a,) + x[l + 1:]
                    want = q * (self.rate(x, l, a, u) - self.world.marginal(y, t) / q)
                    assert abs(found[i] - want) <= Decimal("1e-40") * max(1, self.r), (x, l, a, found[i], want)
                    i += 1


def gauss(n):
    """Nodes and weights on (0,1)."""
    out = []
    for i in range(n):
        z = Decimal(math.cos(math.pi * (i + 0.75) / (n + 0.5)))
        for _ in range(8):  # Newton
            before, value = ONE, z
            for k in range(2, n + 1):
                before, value = value, ((2 * k - 1) * z * value - (k - 1) * before) / k
            slope = n * (z * value - before) / (z * z - 1)
            z -= value / slope
        out.append(((1 + z) / 2, 1 / ((1 - z * z) * slope * slope)))
    return sorted(out)


def panels(step, low, frozen):
    """In u = theta - t: doubling, and no wider than half the way to the pole h = 1, or than 1/2. Frozen
    rates have no poles."""
    end, pole = step.theta - low, 1 / step.r
    at, width = ZERO, ONE / 2 if frozen else end / 2**FINEST
    while at < end:
        to = min(at + width, end)
        yield step.theta - to, step.theta - at
        at = to
        width = width if frozen else min(at, (pole - at) / 2, ONE / 2)


def change(f, a, b, fa):
    """Where f changes its sign between a and b."""
    for _ in range(200):
        c = (a + b) / 2
        fc = f(c)
        if fc == 0 or c in (a, b):
            return c
        if (fc > 0) == (fa > 0):
            a = c
        else:
            b = c
        if abs(b - a) < Decimal("1e-45") * abs(b):
            return c
    return c


def dip(f, a, b, sign):
    """The other sign of f between a and b, where |f| has a minimum, or None."""
    for _ in range(60):
        c, e = a + (b - a) / 3, b - (b - a) / 3
        fc, fe = sign * f(c), sign * f(e)
        if min(fc, fe) < 0:
            return c if fc < fe else e
        a, b = (a, e) if fc < fe else (c, b)
    return None


def absolute(step, low, high, frozen, rule):
    """∫ sum |differences| over one panel."""
    width = high - low
    at = [low] + [low + width * x for x, _ in rule] + [high - width / Decimal("1e25")]
    table = [step.differences(t, frozen) for t in at]
    total = ZERO
    for i in range(len(table[0])):
        f = lambda t: step.differences(t, frozen, i)[0]
        v = [row[i] for row in table]
        points = list(zip(at, v))
        for j in range(1, len(v) - 1):
            if v[j] and abs(v[j]) <= min(abs(v[j - 1]), abs(v[j + 1])) and v[j - 1] * v[j] > 0 and v[j] * v[j + 1] > 0:
                t = dip(f, at[j - 1], at[j + 1], 1 if v[j] > 0 else -1)
                if t is not None:
                    points.append((t, f(t)))
        points = sorted(p for p in points if p[1])
        ends = [low]
        for (a, fa), (b, fb) in zip(points, points[1:]):
            if (fa > 0) != (fb > 0):
                ends.append(change(f, a, b, fa))
        if len(ends) == 1:
            total += width * abs(sum(w * y for (_, w), y in zip(rule, v[1:-1])))
            continue
        for a, b in zip(ends, ends[1:] + [high]):
            total += (b - a) * abs(sum(w * f(a + (b - a) * x) for x, w in rule))
    return total


def integrals(case, rule):
    world = World(case)
    theta = [Decimal(t) for t in case["theta"]]
    law = {x: Decimal(all(a == world.V for a in x)) for x in world.states}
    out = {"euler": ZERO, "frozen": ZERO}
    for high, low in zip(theta, theta[1:]):
        step = Step(world, law, high)
        step.check(low)
        for name in out:
            for a, b in panels(step, low, name == "frozen"):
                out[name] += absolute(step, a, b, name == "frozen", rule)
        law = step.after(high - low)
    return {name: format(v, ".29e") for name, v in out.items()}


def worlds(rng, kind, d, V):
    """The tables of a world, made by a mechanism."""

    def row():
        if kind == "deterministic":
            p = [rng.choice([1e-9, 1e-12, 1e-6, 0.001]) for _ in range(V)]
            p[rng.randrange(V)] += 1
        elif kind == "zeros":
            p = [rng.choice([0, 0, rng.uniform(0.1, 1)]) for _ in range(V)]
            p[rng.randrange(V)] += 1
        elif kind == "tiny":
            p = [10 ** -rng.uniform(0, 15) for _ in range(V)]
        elif kind == "flat":
            p = [1 + rng.uniform(-1e-4, 1e-4) for _ in range(V)]
        else:
            p = [rng.expovariate(1) for _ in range(V)]
        return [float("%.6g" % (x / sum(p))) for x in p]

    def table():
        states = itertools.product(range(V + 1), repeat=d)
        return [[row() if a == V else None for a in x] for x in states]

    q0 = [rng.expovariate(1) if kind == "plain" or rng.random() < 0.8 else 0 for _ in range(V ** d)]
    if kind == "tiny":
        q0 = [10 ** -rng.uniform(0, 15) for _ in q0]
    q0[rng.randrange(len(q0))] += 0.5
    q0 = [float("%.6g" % (x / sum(q0))) for x in q0]
    return {"d": d, "V": V, "q0": q0, "mu0": table(), "mu1": table(), "c": float("%.3g" % rng.uniform(0.1, 1)), "p": float("%.3g" % rng.uniform(0.3, 4))}


def timeless(case):
    return {k: v for k, v in case.items() if k not in ("mu1", "c", "p")}


def posterior(case):
    """The same data with their own conditionals, rounded, as the denoiser."""
    d, V = case["d"], case["V"]
    data = dict(zip(itertools.product(range(V), repeat=d), case["q0"]))

    def row(x, l):
        mass = [sum(p for x0, p in data.items() if x0[l] == a and all(c in (b, V) for b, c in zip(x0, x))) for a in range(V)]
        return [m / sum(mass) for m in mass] if sum(mass) else [1 / V] * V

    states = itertools.product(range(V + 1), repeat=d)
    return dict(timeless(case), mu0=[[row(x, l) if a == V else None for l, a in enumerate(x)] for x in states])


def uniform(T, delta, n):
    return [T] + [float("%.6g" % (T - (T - delta) * k / n)) for k in range(1, n)] + [delta]


def paper(T, delta, kappa):
    out = [T]
    while out[-1] > delta:
        out.append(float("%.6g" % max(out[-1] - kappa * min(1, out[-1]), delta)))
    return out


GRIDS = {
    "large early steps": [9, 4, 1, 0.1],
    "one step each way": [5, 0.01],
    "two steps to 0": [3, 1, 0],
    "long first step": [30, 2, 1.5, 0.02],
    "small steps, then large": [4, 3.999, 3.99, 3.9, 0.5, 0.001],
    "paper's": paper(4, 0.05, 0.5),
    "near 0": [0.1, 0.02, 1e-3, 1e-6],
    "uniform": uniform(5, 0.01, 5),
    "many steps": uniform(5, 0.01, 40),
}

# Random worlds by number whose conditional means have poles nearer than most.
NUMBERS = [5, 17, 29, 33, 34, 37, 48, 58, 94, 100, 136, 193, 194, 195, 229, 237]

# kind, d, V, timed, exact posterior, grid
HARD = [
    ("plain", 2, 2, False, False, "large early steps"),
    ("plain", 2, 3, True, False, "uniform"),
    ("plain", 3, 2, False, False, "paper's"),
    ("plain", 3, 2, True, False, "long first step"),
    ("plain", 2, 2, False, False, "many steps"),
    ("plain", 2, 2, False, True, "many steps"),
    ("plain", 1, 3, True, False, "many steps"),
    ("plain", 1, 2, False, False, "near 0"),
    ("plain", 4, 2, False, False, "large early steps"),
    ("deterministic", 2, 2, False, False, "large early steps"),
    ("deterministic", 2, 2, False, False, "small steps, then large"),
    ("deterministic", 3, 2, False, False, "uniform"),
    ("deterministic", 3, 2, True, False, "two steps to 0"),
    ("deterministic", 2, 3, False, False, "near 0"),
    ("deterministic", 2, 2, False, True, "paper's"),
    ("zeros", 2, 2, False, False, "large early steps"),
    ("zeros", 3, 2, False, False, "paper's"),
    ("zeros", 2, 3, True, False, "small steps, then large"),
    ("zeros", 2, 2, False, True, "two steps to 0"),
    ("tiny", 2, 2, False, False, "large early steps"),
    ("tiny", 2, 2, False, False, "uniform"),
    ("tiny", 3, 2, False, False, "long first step"),
    ("tiny", 2, 2, True, False, "many steps"),
    ("tiny", 1, 4, True, False, "small steps, then large"),
    ("flat", 2, 2, False, False, "uniform"),
    ("flat", 3, 2, True, False, "one step each way"),
]


def random_case(number):
    rng = random.Random(number)
    d, V = rng.choice([(1, 3), (2, 2), (2, 2), (2, 3), (3, 2)])
    kind = rng.choice(["plain", "deterministic", "zeros", "tiny", "flat"])
    timed, exact = rng.random() < 0.3, rng.random() < 0.15
    return make(rng, kind, d, V, timed, exact, rng.choice([g for g in GRIDS if g != "many steps"]), "%d: " % number)


def make(rng, kind, d, V, timed, exact, grid, prefix=""):
    case = worlds(rng, kind, d, V)
    case = posterior(case) if exact else case if timed else timeless(case)
    name = ", ".join([kind, "d=%d" % d, "V=%d" % V] + ["timed"] * timed + ["own posterior"] * exact + [grid])
    return {"name": prefix + name, **case, "theta": GRIDS[grid]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--random", type=int, nargs=2, metavar=("FROM", "TO"), help="random worlds by number, in place of the hard ones")
    args = parser.parse_args()
    if args.random:
        cases = map(random_case, range(*args.random))
    else:
        rng = random.Random(1)
        cases = [make(rng, *setting) for setting in HARD] + [random_case(n) for n in NUMBERS]
    rule, done = gauss(NODES), []
    for case in cases:
        done.append({**case, **integrals(case, rule)})
        print(len(done), case["name"], done[-1]["euler"], file=sys.stderr)
    print('{"cases": [\n' + ",\n".join(json.dumps(c) for c in done) + "\n]}")


if __name__ == "__main__":
    main()
