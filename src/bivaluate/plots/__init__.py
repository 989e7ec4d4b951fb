"""Figures: a table or a Biclustering in, matplotlib Axes out; nothing is computed or decided here."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
