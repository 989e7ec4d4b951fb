"""Write src/bivaluate/chance/null_mean.json: Chebyshev coefficients of the null mean of VE.

python -m benchmarks.chance_table [FILE]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from numpy.polynomial.chebyshev import chebvander
from numpy.typing import NDArray
from scipy.special import gammaln, hyp2f1

SIZE = 20
TARGET = Path(__file__).parents[1] / "src/bivaluate/chance/null_mean.json"


def null_mean_by_quadrature(rho: NDArray[np.float64], c: NDArray[np.float64]) -> NDArray[np.float64]:
    """E0 by 200-point quadrature of Hotelling's density over the angle arccos R; c ≥ 3, need not be whole."""
    rho, c = np.broadcast_arrays(rho, c)
    centre, width = np.arccos(rho), 11 / np.sqrt(c)
    low, high = np.maximum(0, centre - width), np.minimum(np.pi, centre + width)
    nodes, weights = np.polynomial.legendre.leggauss(200)
    angle = low[..., None] + (high - low)[..., None] * (nodes + 1) / 2
    rho, c = rho[..., None], c[..., None]
    R = np.cos(angle)
    log_density = (
        np.log(c - 2)
        + gammaln(c - 1)
        - gammaln(c - 0.5)
        - 0.5 * np.log(2 * np.pi)
        + (c - 3) * np.log(np.sin(angle))
        + (c - 1) / 2 * np.log1p(-(rho**2))
        - (c - 1.5) * np.log1p(-rho * R)
    )
    density = np.exp(log_density) * hyp2f1(0.5, 0.5, c - 0.5, (1 + rho * R) / 2)
    expected = ((high - low) / 2) * (weights * density * np.sqrt(2) * np.sin(angle / 2)).sum(axis=-1)
    c = c[..., 0]
    return np.sqrt(2 * (c - 1) / np.pi) * np.exp(gammaln((c - 1) / 2) - gammaln(c / 2)) * expected


def coefficients(size: int = SIZE) -> NDArray[np.float64]:
    """Tensor Chebyshev coefficients in ρ = 1/√r on [0, 1/√2] and t = 1/c on [0, 1/3]."""
    nodes = np.cos(np.pi * (np.arange(size) + 0.5) / size)
    values = null_mean_by_quadrature((nodes[:, None] + 1) / 2 * np.sqrt(0.5), 6 / (nodes[None, :] + 1))
    basis = chebvander(nodes, size - 1) * np.where(np.arange(size) == 0, 1, 2) / size
    return basis.T @ values @ basis


def main() -> None:
    """Write the table."""
    rows = []
    for row in coefficients():
        whole = np.round(row * 1e15).astype(np.int64).tolist()
        while whole[-1] == 0:
            whole.pop()
        rows.append(json.dumps(whole))
    text = "[\n" + ",\n".join(rows) + "\n]\n"
    Path(sys.argv[1] if len(sys.argv) > 1 else TARGET).write_text(text, encoding="ascii")


if __name__ == "__main__":
    main()
