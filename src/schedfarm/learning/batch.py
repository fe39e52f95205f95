"""The arrays of several simulations that one kernel advances together."""

from __future__ import annotations

from functools import lru_cache
from operator import index
from typing import NamedTuple, TypedDict

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import Int64
from schedfarm.core.checks import whole
from schedfarm.core.errors import InputError
from schedfarm.core.schedule import Schedule
from schedfarm.core.stepping.fields import (
    BACKFILLED,
    BEGIN,
    COLUMNS,
    FREELY,
    JOBS,
    REFUSED,
    SCHEDGYM,
    START,
    STARTED,
    copy_row,
    empty_rows,
    list_of,
    write_columns,
    write_start,
)
from schedfarm.core.workload.workload import Workload
from schedfarm.learning.samples import KEPT, Samples, ranks_of
from schedfarm.learning.views import FEATURES, OBSERVATIONS, RULES, Float32, Reward, named


class Settings(TypedDict, total=False):
    """Keywords of every environment; their defaults are in `Batch.of`."""

    part: str
    train: float
    weeks: int
    load: float | None
    campaign_seed: int
    rule: str
    observation: str
    slots: int | None
    reward: str
    tau: float


class Prepared(NamedTuple):
    """Hold the jobs of a sample in the form for kernels."""

    jobs: Workload
    columns: Int64
    still: Float32
    ranks: Int64


class Batch:
    """Hold simulations side by side, each at a decision in its own sample."""

    @classmethod
    def of(
        cls,
        workload: Workload,
        simulations: int,
        *,
        part: str = "train",
        train: float = 0.7,
        weeks: int = 1,
        load: float | None = None,
        campaign_seed: int = 1,
        rule: str = "free",
        observation: str = "compact",
        slots: int | None = None,
        reward: str = "bounded_slowdown",
        tau: float = 10.0,
    ) -> Batch:
        """Return simulations of samples of a log; keywords are those of `SchedulingEnv`."""
        samples = Samples.of(workload, part, train, weeks, load, campaign_seed)
        return cls(simulations, samples, rule, observation, slots, reward, tau)

    def __init__(
        self,
        simulations: int,
        samples: Samples,
        rule: str,
        observation: str,
        slots: int | None,
        reward: str,
        tau: float,
    ) -> None:
        from schedfarm.core.stepping.observation import step

        self._kernel = step
        self.view = named("observation", observation, OBSERVATIONS)
        self.rule = named("rule", rule, RULES)
        self.slots = whole("slots", self.view.slots if slots is None else slots, least=1)
        self.actions_each = self.slots + (self.rule == FREELY)
        self.samples, self.reward = samples, Reward.of(reward, tau)
        self.actions = np.zeros(simulations, np.int64)
        self.seen = np.zeros((simulations, self.slots, FEATURES), np.float32)
        self.mask = np.zeros((simulations, self.actions_each), np.int8)
        self.jobs: list[Workload | None] = [None] * simulations
        self._visible = np.zeros((simulations, self.slots), np.int64)
        self._take(self._arrays(1))
        self._prepared = lru_cache(maxsize=KEPT)(self._prepare)

    def load(self, k: int, sample: int) -> None:
        """Put a sample into place k; the next `play` advances it to its first decision."""
        found = self._prepared(sample)
        n = len(found.jobs)
        if n > self.ranks.shape[2]:
            self._make_room(n + n // 4)
        self.columns[k, :, :n], self.still[k, :, :n] = found.columns, found.still
        self.ranks[k, :, :n] = found.ranks
        write_start(found.jobs, self.states[k])
        self.jobs[k] = found.jobs
        self.actions[k] = BEGIN

    def choose(self, action: object) -> None:
        """Set the action of the only place: a slot or waiting; other codes are refused."""
        try:
            number = index(action)  # type: ignore[arg-type]
        except TypeError:
            number = -1
        if isinstance(action, bool) or not 0 <= number < self.actions_each:
            number = whole("action", action, least=0, most=self.actions_each - 1)
        self.actions[0] = number

    def choose_each(self, actions: npt.ArrayLike) -> None:
        """Set the action of each place after the checks of `choose`."""
        given, most = np.asarray(actions), self.actions_each - 1
        if given.shape != self.actions.shape:
            raise InputError(
                f"actions have shape {given.shape}; give one for each environment, of shape "
                f"{self.actions.shape}"
            )
        if given.dtype.kind not in "iu" or given.min() < 0 or given.max() > most:
            for k, action in enumerate(given.tolist()):
                whole(f"actions[{k}]", action, least=0, most=most)
        self.actions[:] = given

    def play(self) -> int:
        """Play the actions and observe; return the number of simulations that have ended."""
        return self._kernel(*self._arguments)

    def schedule(self, k: int, name: str) -> Schedule:
        """Return the schedule of place k, in which all jobs have started."""
        jobs, row = self.jobs[k], self.states[k]
        assert jobs is not None
        n = len(jobs)
        backfilled = list_of(row, BACKFILLED)[:n] > 0
        return Schedule(jobs, name, list_of(row, START)[:n].copy(), backfilled)

    def outcome(self, k: int) -> tuple[float, int]:
        """Return the metric of place k at its end, and its number of forbidden actions."""
        return self.reward.value(self.schedule(k, "agent")), int(self.states[k, REFUSED])

    def is_done(self, k: int) -> bool:
        """Return whether all jobs of place k have started."""
        return bool(self.states[k, STARTED] == self.states[k, JOBS])

    def _prepare(self, sample: int) -> Prepared:
        jobs = self.samples.draw(sample)
        columns = np.empty((COLUMNS, len(jobs)), np.int64)
        write_columns(jobs, columns)
        still = self.view.still(jobs, self.samples.longest)
        ranks = np.zeros((2, len(jobs)), np.int64)
        if self.view.code == SCHEDGYM:
            ranks[:] = ranks_of(jobs.estimate), ranks_of(jobs.procs)
        return Prepared(jobs, columns, still, ranks)

    def _arrays(self, most: int) -> tuple[Int64, Int64, Float32, Int64]:
        """Return columns, states, still and ranks with room for `most` jobs in each place."""
        simulations = self.actions.size
        still = np.zeros((simulations, self.view.features, most), np.float32)
        return *empty_rows(simulations, most), still, np.zeros((simulations, 2, most), np.int64)

    def _take(self, arrays: tuple[Int64, Int64, Float32, Int64]) -> None:
        self.columns, self.states, self.still, self.ranks = columns, states, still, ranks = arrays
        # This array is made here instead of at each decision.
        self._arguments = (
            columns, states, self._visible, self.actions, self.rule, self.view.code, still, ranks,
            self.seen, self.mask,
        )  # fmt: skip

    def _make_room(self, most: int) -> None:
        """Enlarge each place, and copy running simulations."""
        before = self.ranks.shape[2]
        columns, states, still, ranks = self._arrays(most)
        columns[:, :, :before], still[:, :, :before] = self.columns, self.still
        ranks[:, :, :before] = self.ranks
        for source, target in zip(self.states, states, strict=True):
            copy_row(source, target)
        self._take((columns, states, still, ranks))
