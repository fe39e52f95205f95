"""Samples of a trace: the jobs of each resample, at each load."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schedfarm.core.errors import InputError
from schedfarm.core.workload.resample_users import users_for_load
from schedfarm.core.workload.workload import Workload
from schedfarm.farm.campaign.resampling import find_method
from schedfarm.farm.campaign.scaling import LOAD_BY, ORIGINAL
from schedfarm.farm.campaign.sources import MODEL
from schedfarm.farm.campaign.trace import Trace


class Samples:
    """Draw the resamples of a trace, and cache the last one.

    A resample is a pure function of the arguments. Drawing takes as long as some simulations do.
    log: the result of `trace.read()`, None for a model. settings: `seed`, `draw` and `load_by` of
    the campaign, as in `Campaign.settings`.
    """

    def __init__(self, trace: Trace, log: Workload | None, settings: Mapping[str, Any]) -> None:
        self.trace, self.log, self.seed = trace, log, int(settings["seed"])
        self.method = find_method(settings["draw"])
        self.scaling = LOAD_BY[settings["load_by"]]
        self._last: tuple[tuple[int, float], Workload] | None = None

    def at(self, resample: int, load: str) -> Workload:
        """Return the jobs of one resample at one load.

        Raises `InputError` if they cannot be drawn, or scaled to the load.
        """
        drawn = self.log is not None and resample and self.method.users
        if self.scaling.by_users and load != ORIGINAL and not drawn:
            raise InputError(
                f"trace {self.trace.name!r}: drawing users can scale only a resample of users to "
                f'load {load}; set draw = "users"'
            )
        scaled = self.scaling.scale(self.drawn(resample, self.users_at(load)), load)
        # Resizing comes after scaling, so that each size of the machine has the same jobs.
        return self.trace.resized(scaled)

    def drawn(self, resample: int, users: float = 1.0) -> Workload:
        """Return the jobs of one resample at their own load; 0 is the log itself.

        users: number of users to draw per user of the log, if the method draws whole users.
        """
        if self._last is None or self._last[0] != (resample, users):
            self._last = (resample, users), self._draw(resample, users)
        return self._last[1]

    def _draw(self, resample: int, users: float) -> Workload:
        trace, log = self.trace, self.log
        if log is None:
            return MODEL.draw(trace, self.seed, resample)
        if resample < 0:
            raise InputError(
                f"resample is {resample}; it must be 0 for the log itself, or a number from 1"
            )
        if resample == 0:
            return log
        return self.method.sample(log, users, seed=self.seed, index=resample, weeks=trace.weeks)

    def users_at(self, load: str) -> float:
        """Return the number of users to draw at a load, per user of the log."""
        if self.log is None or load == ORIGINAL or not self.scaling.by_users:
            return 1.0
        return users_for_load(self.log, float(load))
