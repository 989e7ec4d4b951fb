"""The NVE paper, run again: its tables as data, its claims as checks, a verdict on each."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
