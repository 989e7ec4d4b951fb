"""One HTML file that shows what the scores mean; it draws, it never computes a measure or chooses a winner."""

from bivaluate.report.render import Figure, Section, build_report

__all__ = ["Figure", "Section", "build_report"]
