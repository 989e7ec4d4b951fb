from .cells import Cell as Cell
from .load import Run as Run
from .load import load_run as load_run
from .plan import Plan as Plan
from .run import Sweep as Sweep
from .search import KSelection as KSelection
from .search import select_k as select_k
from .select import Selection as Selection
