"""What commands name in annotations alone: each is imported where it is used, so that ``--help`` waits for none."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame as DataFrame

    from bivaluate.algorithms import Algorithm as Algorithm
    from bivaluate.elsewhere.recur import Recurrence as Recurrence
    from bivaluate.enrichment import GeneSets as GeneSets
    from bivaluate.evaluation import Evaluation as Evaluation
    from bivaluate.judge.prune import Pruning as Pruning
    from bivaluate.judge.verdict import Verdict as Verdict
    from bivaluate.matrix import Matrix as Matrix
    from bivaluate.measures.measure import Metric as Metric
    from bivaluate.solution import Biclustering as Biclustering
    from bivaluate.sweep import Plan as Plan
    from bivaluate.sweep import Run as Run
    from bivaluate.sweep.select import Selection as Selection
else:
    Algorithm = Recurrence = GeneSets = Evaluation = Pruning = Verdict = Matrix = Metric = Biclustering = object
    Plan = Run = Selection = DataFrame = object
