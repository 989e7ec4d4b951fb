"""Virtual error by chance: its mean and spread in noise, and what a search through noise would find.

Rows of i.i.d. Gaussian noise standardise to random directions, and a row and the virtual pattern of r rows are
correlated by 1/√r; what is said of virtual errors follows from the distribution of that sample correlation over c
columns.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bivaluate._errors import ParameterError
from bivaluate._types import Floats

# E0 = Σ_ij C[i, j] T_i(2√2/√r − 1) T_j(6/c − 1), r ≥ 2, c ≥ 3, absolute error below 1e-10; the file holds C in units
# of 1e-15, trailing zeros left out, and is written by benchmarks/chance_table.py
_COEFFICIENTS = json.loads(Path(__file__).with_name("null_mean.json").read_text(encoding="ascii"))
NULL_MEAN = 1e-15 * np.array([row + [0] * (len(_COEFFICIENTS) - len(row)) for row in _COEFFICIENTS], dtype=np.float64)

QUADRATURE_POINTS = 128
# With so many nodes angles are right to 4e-10 up to this share; beyond it the curve bends too much.
_TABLE_NODES, _LARGEST_SMOOTH = 24, 0.3
# Up to the first, angles are solved in logarithms; below the second there is no other way.
_LOWER_TAIL, _TINY = math.log(0.1), 1e-290
_SETTLED = 1e-4  # a step of third order after one of 1e-4 changes nothing that can be seen
_MOST_TERMS, _TERMS_AT_ONCE = 2048, 32
_MOST_KEPT = 1 << 16


def null_mean(r: ArrayLike, c: ArrayLike) -> Floats:
    """Mean virtual error of r × c blocks of noise that was not searched for: E0(r, c).

    E0 = A(c)·E[√(1 − R)], A(c) = √(2(c−1)/π)·Γ((c−1)/2)/Γ(c/2), with R the sample correlation of c pairs at
    population correlation 1/√r. Exact for i.i.d. Gaussian cells; read from a Chebyshev table (error < 1e-10)
    for c ≥ 3, in closed form (2/π)·arccos(1/√r) for c = 2. NaN where r < 2 or c < 2. Rises with r.
    """
    r, c = _shapes(r, c)
    rho = 1 / np.sqrt(r)
    size = len(NULL_MEAN)
    in_rows = _chebyshev(np.minimum(2 * math.sqrt(2) * rho - 1, 1).ravel(), size)
    in_cols = _chebyshev((6 / np.maximum(c, 3) - 1).ravel(), size)
    # one shape at a time gives the bits that many together give, and a matrix product does not
    mean = np.einsum("pi,pi->p", np.einsum("pi,ij->pj", in_rows, NULL_MEAN), in_cols).reshape(r.shape)
    mean = np.where(c <= 2, 2 / np.pi * np.arccos(rho), mean)
    return np.where((r < 2) | (c < 2), np.nan, mean)


def null_sd(r: ArrayLike, c: ArrayLike) -> Floats:
    """Standard deviation of the virtual error of r × c blocks of noise: sd0(r, c).

    Exact for c = 2: √(1/r − ((2/π)·arcsin(1/√r))²); a fitted formula for c ≥ 3 (largest error 5.5 %, root mean
    square 1.9 % over 168 simulated shapes). NaN where r < 2 or c < 2.
    """
    r, c = _shapes(r, c)
    d = np.maximum(c - 1, 1)
    within = (0.2135 + 0.3145 / d - 0.0039 / d**2 + (0.20496 - 0.2143 / d) / r) / (r * d)
    shared = 0.00282 * np.maximum(c - 4.56267, 0) ** 2 / (c + 0.03859) ** 3
    variance = np.where(c == 2, 1 / r - (2 / np.pi * np.arcsin(1 / np.sqrt(r))) ** 2, within + shared)
    return np.where((r < 2) | (c < 2), np.nan, np.sqrt(np.maximum(variance, 0)))


def search_reference(r: ArrayLike, c: ArrayLike, shape: Sequence[int], expected: Floats | None = None) -> Floats:
    """Virtual error a search through noise is expected to reach: V*(r, c; n, m).

    The VE at which one expects a single r × c block that coherent anywhere in an n × m matrix of noise:
    log F = −[log C(n, r) + log C(m, c)]/(r − 1); κ(u) = 1 − 2·BetaInv(uF; (c−2)/2, (c−2)/2) for u in (0, 1)
    (c = 2: +1 if uF ≤ 1/2, else −1); κ̄ = E κ; ρ(u) = (κ·κ̄ + (1 − κ²)/r)/√(κ̄² + (1 − κ̄²)/r);
    V* = min(E0, A(c)·E√(1 − ρ(u))), by 128-point Gauss–Legendre quadrature over u. No constant is fitted.
    An approximation, not a bound. NaN where r < 2 or c < 2. `expected` is E0 if it is known.
    """
    n, m = int(shape[0]), int(shape[1])
    r, c = _shapes(r, c)
    if (r > n).any() or (c > m).any():
        raise ParameterError(
            f"a block of {int(r.max())} x {int(c.max())} does not fit into a matrix of {n} x {m}: "
            "give the shape of the matrix the block was found in."
        )
    reached, usable = np.full(r.shape, np.nan), (r >= 2) & (c >= 2)
    reached[usable] = by_shapes(_reached_by_search, r[usable], c[usable], n, m)
    return np.asarray(np.minimum(null_mean(r, c) if expected is None else expected, reached))


# What functions of blocks gave, by rows, columns and further arguments: surrogates and sweeps ask for the same ones.
# A value does not depend on those it was computed with.
_known: dict[tuple[Any, ...], float] = {}


def by_shapes(function: Callable[..., Floats], r: Any, c: Any, *further: int) -> Floats:
    """Return what a function gives for blocks of r × c, those of a new shape computed together."""
    keys = [(*sides, function, *further) for sides in zip(r.ravel().tolist(), c.ravel().tolist(), strict=True)]
    found = {key: _known.get(key) for key in keys}
    if new := [key for key, value in found.items() if value is None]:
        if len(_known) > _MOST_KEPT:
            _known.clear()
        rows, cols = np.array([key[:2] for key in new], dtype=np.float64).T
        made = dict(zip(new, function(rows, cols, *further).tolist(), strict=True))
        found |= made
        _known.update(made)
    return np.array([found[key] for key in keys], dtype=np.float64).reshape(r.shape)


def _reached_by_search(r: Floats, c: Floats, n: int, m: int) -> Floats:
    """Return V* before it is cut at E0."""
    log_share = -(_log_choices(n, r) + _log_choices(m, c)) / (r - 1)
    nodes, weights = _quadrature()
    wide = c >= 3
    if wide.all():
        kappa = np.cos(_tail_angles(log_share, c, nodes))
    else:
        kappa = np.where(nodes * np.exp(log_share)[:, None] <= 0.5, 1.0, -1.0)
        kappa[wide] = np.cos(_tail_angles(log_share[wide], c[wide], nodes))
    mean = np.einsum("pu,u->p", kappa, weights)[:, None]
    rho = (kappa * mean + (1 - kappa**2) / r[:, None]) / np.sqrt(mean**2 + (1 - mean**2) / r[:, None])
    amplitude = np.sqrt(2 * (c - 1) / np.pi) * np.exp(_log_gamma((c - 1) / 2) - _log_gamma(c / 2))
    return np.asarray(amplitude * np.einsum("pu,u->p", np.sqrt(np.maximum(1 - rho, 0)), weights))


def _tail_angles(log_share: Floats, c: Floats, u: Floats) -> Floats:
    """Return arccos κ(u) for each block: the angle below which a share u·F of random directions lies.

    As a function of u^(1/(c−2)) the angle is smooth and nearly straight, so a few values and Chebyshev interpolation
    serve for all nodes; where F is not small every node is computed.
    """
    angles = np.empty((len(c), len(u)))
    for k, (share, cols) in enumerate(zip(log_share.tolist(), c.tolist(), strict=True)):
        if share < math.log(_LARGEST_SMOOTH):
            at, to_nodes = _interpolation(int(cols))
            angles[k] = _beta_angle(at + share, cols) @ to_nodes
        else:
            angles[k] = _beta_angle(np.log(u) + share, cols)
    return angles


def _beta_angle(log_p: Floats, c: float) -> Floats:
    """Return 2·arcsin √x with I_x(a, a) = p, a = (c−2)/2.

    In the lower tail they are solved in logarithms, without waiting for SciPy to load, and so are values too small for
    floating point; the choice depends on the input alone.
    """
    a = (c - 2) / 2
    if log_p.max() <= _LOWER_TAIL:
        return np.asarray(2 * np.arcsin(np.sqrt(_log_beta_inverse(log_p, a))))
    from scipy.special import betaincinv

    x = betaincinv(a, a, np.exp(np.minimum(log_p, 0)))
    tiny = log_p < math.log(_TINY)
    if tiny.any():
        x[tiny] = _log_beta_inverse(log_p[tiny], a)
    return np.asarray(2 * np.arcsin(np.sqrt(x)))


def _log_beta_inverse(log_p: Floats, a: float) -> Floats:
    """Solve log I_x(a, a) = log_p for small x by Halley's steps in log x."""
    log_front = math.lgamma(2 * a) - 2 * math.lgamma(a) - math.log(a)
    # log x from that of x(1 − x), as if the series were 1, then as if it were geometric
    log_product = np.minimum((log_p - log_front) / a, math.log(0.2475))
    log_x = log_product - np.log((1 + np.sqrt(1 - 4 * np.exp(log_product))) / 2)
    log_product += np.log(np.maximum(1 - 2 * a / (a + 1) * np.exp(log_x), 0.5)) / a
    log_x = log_product - np.log((1 + np.sqrt(1 - 4 * np.exp(log_product))) / 2)
    for _ in range(60):
        x = np.exp(log_x)
        series = _beta_series(x, a)
        difference = log_front + a * (log_x + np.log1p(-x)) + np.log(series) - log_p
        slope = a / (series * (1 - x))  # of log I over log x
        step = difference / slope
        step = step / (1 - step / 2 * (a - (a - 1) * x / (1 - x) - slope))
        log_x = np.minimum(log_x - step, math.log(0.499))
        if np.abs(step).max() < _SETTLED:
            break
    return np.asarray(np.exp(log_x))


def _beta_series(x: Floats, a: float) -> Floats:
    """Return 1 + Σ_k Π_{i<k} x·(2a + i)/(a + 1 + i), many terms at a time."""
    total = last = np.ones_like(x)
    for start in range(0, _MOST_TERMS, _TERMS_AT_ONCE):
        i = np.arange(start, start + _TERMS_AT_ONCE)
        terms = np.multiply.accumulate(x[..., None] * ((2 * a + i) / (a + 1 + i)), axis=-1)
        terms *= last[..., None]
        total, last = total + np.add.reduce(terms, axis=-1), terms[..., -1]
        if (last < 1e-17 * total).all():
            break
    return np.asarray(total)


def _chebyshev(x: Floats, size: int) -> Floats:
    """Return T_0 to T_(size − 1) at each x in [−1, 1]."""
    return np.asarray(np.cos(np.multiply.outer(np.arccos(x), np.arange(size))))


@lru_cache(maxsize=1024)
def _interpolation(c: int) -> tuple[Floats, Floats]:
    """Return log u of a few values of u, and the matrix that takes a function's values there to the quadrature nodes.

    Chebyshev interpolation in u^(1/(c−2)).
    """
    order = np.arange(_TABLE_NODES)
    unit = np.cos(np.pi * (order + 0.5) / _TABLE_NODES)
    coefficients = _chebyshev(unit, _TABLE_NODES) * np.where(order == 0, 1, 2) / _TABLE_NODES
    top = _quadrature()[0] ** (1 / (c - 2))
    low = top[0]
    at = low + (1 - low) * (unit + 1) / 2
    return (c - 2) * np.log(at), coefficients @ _chebyshev(2 * (top - low) / (1 - low) - 1, _TABLE_NODES).T


@lru_cache(maxsize=1)
def _quadrature() -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(QUADRATURE_POINTS)
    return (nodes + 1) / 2, weights / 2


def _shapes(r: ArrayLike, c: ArrayLike) -> tuple[Floats, Floats]:
    rows, cols = np.broadcast_arrays(np.asarray(r, dtype=np.float64), np.asarray(c, dtype=np.float64))
    return np.maximum(rows, 1), np.maximum(cols, 1)


def log_choose(n: int, k: float) -> float:
    """Return log C(n, k).

    >>> round(math.exp(log_choose(5, 2)), 9)
    10.0
    """
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _log_choices(n: int, k: Floats) -> Floats:
    return np.array([log_choose(n, one) for one in k.tolist()])


def _log_gamma(x: Floats) -> Floats:
    return np.array([math.lgamma(one) for one in x.ravel().tolist()]).reshape(x.shape)
