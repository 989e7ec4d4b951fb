"""The scores of solutions as custom content of a MultiQC report."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bivaluate._files import write_whole
from bivaluate.measures.registry import main_metrics

if TYPE_CHECKING:
    from bivaluate.evaluation import Evaluation


def write_multiqc(path: Path, evaluations: Sequence[Evaluation]) -> None:
    """Write the main scores and the verdicts as a table for MultiQC, which looks for names ending in ``_mqc.json``."""
    named = {str(e.solution.info.get("name", "solution")): e for e in evaluations}
    shown = [metric for metric in main_metrics() if metric.key in evaluations[0].scores]
    document = {
        "id": "bivaluate",
        "section_name": "bivaluate",
        "description": "Are the biclusters coherent, distinct and worth speaking of? "
        + " ".join(f"{name}: {e.verdict}" for name, e in named.items()),
        "plot_type": "table",
        "pconfig": {"id": "bivaluate_scores", "title": "bivaluate: scores of solutions"},
        "headers": {metric.key: {"title": metric.symbol, "description": metric.summary} for metric in shown},
        "data": {
            name: {m.key: e.scores[m.key] for m in shown if math.isfinite(e.scores[m.key])} for name, e in named.items()
        },
    }
    write_whole(path, json.dumps(document, indent=1) + "\n")
