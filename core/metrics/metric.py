"""A metric: name, unit, meaning, what there is one value of, how it is found."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from schedfarm.core.errors import InputError
from schedfarm.core.machines.platform import Platform
from schedfarm.core.metrics.counted import Counted

CELL, WEEK, USER, WIDTH, ORIGIN = "cell", "week", "user", "width", "origin"
"""What there is one value of: a simulation, or each week, user, width class or participant of it.
"""

SMALLER, LARGER, NEITHER = "smaller", "larger", ""
"""Which values are better."""

_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class Metric:
    """Declare one metric.

    Parameters
    ----------
    name : str
        Small letters, digits and ``_``: the name of its array in a store.
    unit, meaning : str
        Unit (1 for a pure number) and one line for axes and tables.
    of : callable
        From a `core.metrics.counted.Counted` to the value, or to one for each week, user, width
        or participant; of what is shared, from the workload.
    over : {"cell", "week", "user", "width", "origin"}
        What there is one value of.
    better : {"smaller", "larger", ""}
        Which values are better, where one can say so.
    shared : bool
        Whether it is a matter of the jobs alone, which no policy changes.
    among : bool
        Whether it is a matter of several participants, as what there is one value of each of is:
        on other platforms there is no such metric.
    dtype : {"float64", "int64"}
        Kind of its values; floats are NaN where there is none, whole numbers 0.

    Raises
    ------
    InputError
        If a part is not one of these.

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
        """Return the metric of the jobs that count."""
        return self.of(counted.workload if self.shared else counted)

    def there_is(self, platform: Platform | None) -> bool:
        """Tell whether schedules on a platform have it; without one, on whichever.

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
