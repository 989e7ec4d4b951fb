"""Biclustering algorithms as scikit-learn estimators; one paper = one file."""

from bivaluate.algorithms.cheng_church import ChengChurch
from bivaluate.algorithms.large_average import LargeAverageSubmatrices
from bivaluate.algorithms.registry import ALGORITHMS, Algorithm, get_algorithm, make_estimator
from bivaluate.algorithms.spectral import SpectralCheckerboard

__all__ = [
    "ALGORITHMS",
    "Algorithm",
    "ChengChurch",
    "LargeAverageSubmatrices",
    "SpectralCheckerboard",
    "get_algorithm",
    "make_estimator",
]
