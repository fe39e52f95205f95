"""The kinds of array that the house is built of."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Bool = npt.NDArray[np.bool_]
Float64 = npt.NDArray[np.float64]
Int8 = npt.NDArray[np.int8]
Int64 = npt.NDArray[np.int64]

HORIZON = 2**62
"""No instant of a simulation may lie beyond this, s: sums of two instants then fit int64."""

MOST_JOBS = 10**7
"""No model draws, and no campaign plans, more jobs in one workload: its columns take 570 MB."""

MOST_WEEKS = 5_218
"""No workload is drawn for longer than a century."""

NO_PROMISE = -1
"""Stands for the start promised to a job where a rule promises none."""
