"""Logarithms of tail probabilities and of binomial coefficients, far beyond where the numbers themselves underflow."""

from __future__ import annotations

import math

_STEPS = 500
_ACCURACY = 1e-12
_TINY = 1e-300
# P(B ≥ x) is above e^−3 wherever x is below (a + 1)/(a + b + 2), for a ≥ 1/2.
_NOT_SMALL = -3.0


def log_choose(n: int, k: int) -> float:
    """Return log C(n, k).

    >>> round(math.exp(log_choose(5, 2)), 9)
    10.0
    """
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def log_beta_tail(x: float, a: float, b: float) -> float:
    """Return log P(B ≥ x) for B ~ Beta(a, b), by the continued fraction of the incomplete beta function.

    >>> round(log_beta_tail(0.75, 1.0, 1.0), 9) == round(math.log(0.25), 9)
    True
    """
    if x <= 0:
        return 0.0
    y = 1 - x
    if y <= 0:
        return -math.inf
    if x < (a + 1) / (a + b + 2):  # the tail is not small: take it from the other side
        other = _log_fraction(x, a, b)
        return math.log1p(-math.exp(other)) if other < 0 else -math.inf
    return min(0.0, _log_fraction(y, b, a))


def log_beta_tail_bound(x: float, a: float, b: float) -> float:
    """Return a number that :func:`log_beta_tail` is never below, at a fraction of its cost, for a ≥ 1/2.

    >>> log_beta_tail_bound(0.75, 2.0, 3.0) <= log_beta_tail(0.75, 2.0, 3.0)
    True
    """
    if x < (a + 1) / (a + b + 2):
        return _NOT_SMALL
    return _log_front(1 - x, b, a) if x < 1 else -math.inf


def _log_fraction(y: float, p: float, q: float) -> float:
    """Return log I_y(p, q) by Lentz's method; it converges fast for y below (p + 1)/(p + q + 2)."""
    upper = 1.0
    lower = 1 / ((1 - (p + q) * y / (p + 1)) or _TINY)
    value = lower
    for step in range(1, _STEPS):
        at = p + 2 * step
        even = step * (q - step) * y / ((at - 1) * at)
        lower, upper = 1 / ((1 + even * lower) or _TINY), (1 + even / upper) or _TINY
        value *= lower * upper
        odd = -(p + step) * (p + q + step) * y / (at * (at + 1))
        lower, upper = 1 / ((1 + odd * lower) or _TINY), (1 + odd / upper) or _TINY
        value *= lower * upper
        if abs(lower * upper - 1) < _ACCURACY:
            break
    return _log_front(y, p, q) + math.log(value)


def _log_front(y: float, p: float, q: float) -> float:
    """Return the logarithm of the factor before the fraction, y^p (1 − y)^q / (p·B(p, q))."""
    beta = math.lgamma(p) + math.lgamma(q) - math.lgamma(p + q)
    return p * math.log(y) + q * math.log1p(-y) - math.log(p) - beta
