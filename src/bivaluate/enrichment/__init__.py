"""Whether the genes of biclusters share a function: gene sets, and the test against them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
