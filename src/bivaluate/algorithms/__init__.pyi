from .cheng_church import ChengChurch as ChengChurch
from .large_average import LargeAverageSubmatrices as LargeAverageSubmatrices
from .registry import ALGORITHMS as ALGORITHMS
from .registry import Algorithm as Algorithm
from .registry import get_algorithm as get_algorithm
from .registry import make_estimator as make_estimator
from .spectral import SpectralCheckerboard as SpectralCheckerboard
