"""Sweeps over data sets, algorithms, K and seeds: plan, run, resume, load, choose."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
