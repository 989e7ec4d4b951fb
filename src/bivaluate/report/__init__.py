"""One HTML file that shows what the scores mean; it draws, it never computes a measure."""

from bivaluate.report.render import build_report
from bivaluate.report.sections import Figure, Section

__all__ = ["Figure", "Section", "build_report"]
