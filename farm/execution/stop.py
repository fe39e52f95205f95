"""The wish that a run stop."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

FINISH_SECONDS = 10.0
"""What would end within this time of the wish to stop is finished, what takes longer is left."""

LATE_SECONDS = 10.0
"""Further time until tasks that have not ended are abandoned: batch systems and containers kill a
process 30 s after they have asked it to end."""


@dataclass
class Stop:
    """Carry the wish to submit nothing more, and when it came, s on the monotonic clock."""

    since: float = field(default=math.inf)

    @property
    def wished(self) -> bool:
        """Whether the run is to stop."""
        return self.since < math.inf

    def wish(self) -> None:
        """Stop the run."""
        self.since = min(self.since, time.monotonic())

    @property
    def grace(self) -> float:
        """Time that is left to what runs, s."""
        return max(0.0, self.since + FINISH_SECONDS - time.monotonic())

    @property
    def is_overdue(self) -> bool:
        """Whether all that runs should have ended by now."""
        return time.monotonic() > self.since + FINISH_SECONDS + LATE_SECONDS
