"""Data to try things on: synthetic scenarios with a known truth, and real matrices fetched on demand."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
