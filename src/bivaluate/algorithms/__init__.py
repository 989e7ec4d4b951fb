"""Biclustering algorithms as scikit-learn estimators; one paper = one file."""

from bivaluate.algorithms.cheng_church import ChengChurch
from bivaluate.algorithms.coherent import CoherentSubmatrices
from bivaluate.algorithms.coherent_given import climb_from, evidence_of
from bivaluate.algorithms.large_average import LargeAverageSubmatrices
from bivaluate.algorithms.registry import ALGORITHMS, Algorithm, get_algorithm, make_estimator
from bivaluate.algorithms.spectral import SpectralCheckerboard

__all__ = [
    "ALGORITHMS",
    "Algorithm",
    "ChengChurch",
    "CoherentSubmatrices",
    "LargeAverageSubmatrices",
    "SpectralCheckerboard",
    "climb_from",
    "evidence_of",
    "get_algorithm",
    "make_estimator",
]
