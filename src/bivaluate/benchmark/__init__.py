"""Which measure recognises good biclusters: algorithms on data with a truth, and how well each measure agrees with it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
