"""What arrays hold, and the types of libraries that are imported where they are needed, for annotations."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure as Figure
    from pandas import DataFrame as DataFrame
    from pandas import Series as Series
else:
    Axes = Figure = DataFrame = Series = object
