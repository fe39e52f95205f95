"""Declaration of a metric: name, unit, meaning, dimension, function."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from schedfarm.core.errors import InputError
from schedfarm.core.machines.platform import Platform
from schedfarm.core.metrics.counted import Counted

CELL, WEEK, USER, WIDTH, ORIGIN = "cell", "week", "user", "width", "origin"
"""Dimensions of metrics: one value per simulation, week, user, width class or participant.
"""

SMALLER, LARGER, NEITHER = "smaller", "larger", ""
"""Directions of better values."""

_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class Metric:
    """Declare one metric.

    Parameters
    ----------
    name : str
        Name of the metric's array in a store: small letters, digits and ``_``.
    unit, meaning : str
        Unit (1 for a pure number), and a line of text for axes and tables.
    of : callable
        Function of a `core.metrics.counted.Counted` that returns the value, or one per week, user,
        width or participant; if `shared`, a function of the workload.
    over : {"cell", "week", "user", "width", "origin"}
        Dimension: one value per simulation, week, user, width class or participant.
    better : {"smaller", "larger", ""}
        Direction of better values, if there is one.
    shared : bool
        Whether the metric depends on the jobs only, and not on the policy.
    among : bool
        Whether the metric exists only on platforms with participants.
    dtype : {"float64", "int64"}
        Type of the values; a missing value is NaN, or 0 for integers.

    Raises
    ------
    InputError
        If an argument has another value.

    Examples
    --------
    >>> from schedfarm.core.metrics.declared import METRICS
    >>> METRICS["wait"].unit, METRICS["user_nuwt"].over, METRICS["utilisation"].better
    ('s', 'user', 'larger')
    """

    name: str
    unit: str
    meaning: str
    of: Callable[[Any], Any]
    over: str = CELL
    better: str = SMALLER
    shared: bool = False
    among: bool = False
    dtype: str = "float64"

    def value(self, counted: Counted) -> Any:
        """Compute the metric for the counted jobs."""
        return self.of(counted.workload if self.shared else counted)

    def there_is(self, platform: Platform | None) -> bool:
        """Return whether the metric exists on a platform; for None, on every platform.

        Examples
        --------
        >>> from schedfarm.core import Pool
        >>> from schedfarm.core.metrics.declared import METRICS
        >>> METRICS["wait"].there_is(Pool(4)), METRICS["origin_wait"].there_is(Pool(4))
        (True, False)
        """
        participants = platform.participants if platform else ()
        return bool(participants) or not (self.among or self.over == ORIGIN)

    def __post_init__(self) -> None:
        choices = {
            "over": (CELL, WEEK, USER, WIDTH, ORIGIN),
            "better": (SMALLER, LARGER, NEITHER),
            "dtype": ("float64", "int64"),
        }
        if not _NAME.fullmatch(self.name):
            raise InputError(f"metric {self.name!r}: use small letters, digits and '_' in a name")
        for key, known in choices.items():
            if getattr(self, key) not in known:
                raise InputError(
                    f"metric {self.name!r}: {key} is {getattr(self, key)!r}; known: "
                    f"{', '.join(map(repr, known))}"
                )
