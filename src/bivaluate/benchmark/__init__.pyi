from .answer import answer as answer
from .cases import CASES as CASES
from .cases import Case as Case
from .cases import Problem as Problem
from .fits import Benchmark as Benchmark
from .fits import run_benchmark as run_benchmark
from .page import write_page as write_page
