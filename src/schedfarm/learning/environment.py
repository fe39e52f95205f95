"""A simulation as an environment of Gymnasium."""

from __future__ import annotations

from typing import Any, Unpack

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box, Discrete

from schedfarm.core.errors import InputError
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.workload import Workload
from schedfarm.learning.batch import Batch, Settings
from schedfarm.learning.samples import sample_number
from schedfarm.learning.views import FEATURES, Float32

Mask = npt.NDArray[np.int8]


class SchedulingEnv(gymnasium.Env[Float32, int]):
    """Schedule the jobs of a weekly resample of a log, one decision at a time.

    ``reset(seed=k)`` starts sample k: resample k of one part of the log, drawn by `resample_weekly`
    with the seed `campaign_seed`. It is the same workload in every environment and for every agent.
    Without a seed, the samples follow each other. **Training and test weeks are disjoint by
    construction**: `part` selects the first weeks of the log or the other weeks (`split_weeks`).
    The environment draws only from the selected weeks, and keeps no job of the other part.

    The observation has a row for each of `slots` visible jobs. The action is the slot of one of
    these jobs. The reward is 0 until the last job starts. It is then the metric of the whole
    schedule, negative if smaller values are better. ``info["action_mask"]`` and `action_masks` are
    1 for possible actions. An impossible action counts as waiting if waiting is possible, and
    otherwise as the first slot. ``info["refused"]`` at the end is the number of impossible actions.

    Parameters
    ----------
    workload : Workload
        The log, at least two weeks long, on one pool of processors.

    Other Parameters
    ----------------
    part : {"train", "test"}
        Part of the weeks to draw from; by default the training weeks.
    train : float
        Share of the first weeks, which are for training; by default 0.7.
    weeks : int
        Length of an episode, weeks; by default 1.
    load : float, optional
        Offered load of the part, to which run times are scaled; by default the log's own load.
    campaign_seed : int
        Seed of all samples, as in a campaign; by default 1.
    rule : {"free", "none", "easy"}
        Decisions of the agent. ``free``: the agent starts a job that fits now; the last action
        waits for the next event. ``none``: the agent chooses the next job, and no other job starts
        until the chosen job fits. ``easy``: as ``none``, but other jobs are backfilled in the
        meantime, oldest first. As under EASY with the chosen job as the head, a backfilled job ends
        by the shadow time or uses only extra processors. By default ``free``.
    observation : {"compact", "schedgym"}
        Eight numbers per slot, from 0 to 1. ``compact``, the default: (1) 1 if the slot has a job;
        (2) the job's wait and (3) its estimate, on logarithmic scales; (4) its share of the
        processors; (5) whether it fits; (6) whether it fits and leaves the earliest start of the
        oldest job unaffected; (7) the share of free processors; (8) the length of the queue.
        ``schedgym``: the numbers of RLScheduler (Zhang et al., SC20). In training and in test
        weeks, estimates are scaled by the longest time of the training weeks; longer estimates of
        test weeks count as 1.
    slots : int, optional
        Number of visible jobs; by default 64, and 128 for ``schedgym``. The oldest jobs are
        visible. Under ``schedgym``, a longer queue shows the shortest and the narrowest jobs in
        turn.
    reward : str
        Name of a metric (`summarise`); by default ``bounded_slowdown``.
    tau : float
        Threshold of slowdowns, s: shorter run times count as `tau`; by default 10.

    Raises
    ------
    InputError
        If the log is too short or on another platform, a name is unknown, or a number is out of
        range.

    Examples
    --------
    >>> import schedfarm as sf
    >>> env = SchedulingEnv(sf.lublin(jobs=3000, processors=64, seed=1), part="test", rule="none")
    >>> observation, info = env.reset(seed=3)
    >>> terminated = False
    >>> while not terminated:
    ...     observation, reward, terminated, truncated, info = env.step(0)
    >>> reward == -sf.summarise(sf.simulate(env.workload, "fcfs+none"))["bounded_slowdown"]
    True
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012  Gymnasium's own declaration.

    def __init__(self, workload: Workload, **settings: Unpack[Settings]) -> None:
        self._batch = batch = Batch.of(workload, 1, **settings)
        self.observation_space = Box(0.0, 1.0, (batch.slots, FEATURES), np.float32)
        self.action_space = Discrete(batch.actions_each)  # type: ignore[assignment]
        samples = batch.samples
        self.part, self.tau = samples.part, batch.reward.tau
        self.load_label = "log" if samples.load is None else str(samples.load)
        self._seen, self._mask = batch.seen[0], batch.mask[0]
        self._sample, self._ended = 0, True

    @property
    def workload(self) -> Workload:
        """The jobs of the current sample."""
        jobs = self._batch.jobs[0]
        if jobs is None:
            raise InputError("the environment has no sample yet; call reset() first")
        return jobs

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Float32, dict[str, Any]]:
        """Start a sample: the sample with this number, or by default the next one.

        Parameters
        ----------
        seed : int, optional
            Number of the sample, at least 0. Without a seed, the first sample is number 1.
        options : dict, optional
            Not used.

        Returns
        -------
        observation : float32[slots, 8]
            Observation at the first decision.
        info : dict
            ``action_mask``, and ``sample``, the number of the sample.

        Raises
        ------
        InputError
            If `seed` is not a whole number from 0, or the sample has no job.
        """
        if seed is not None:
            seed = sample_number("seed", seed)
        super().reset(seed=seed)
        self._sample = self._sample + 1 if seed is None else seed
        self._batch.load(0, self._sample)
        observation, info = self._played()
        return observation, {**info, "sample": self._sample}

    def step(self, action: Any) -> tuple[Float32, float, bool, bool, dict[str, Any]]:
        """Play an action, and go to the next decision.

        Parameters
        ----------
        action : int
            A slot; under ``free``, the number of slots stands for waiting.

        Returns
        -------
        observation : float32[slots, 8]
            Observation at the next decision.
        reward : float
            0 until the end.
        terminated : bool
            Whether all jobs have started.
        truncated : bool
            False.
        info : dict
            ``action_mask``; at the end also ``value``, the metric, and ``refused``.

        Raises
        ------
        InputError
            If the action is not a whole number of the action space.
        gymnasium.error.ResetNeeded
            If no episode is in progress.
        """
        if self._ended:
            raise gymnasium.error.ResetNeeded("all jobs have started; call reset()")
        batch = self._batch
        batch.choose(action)
        observation, info = self._played()
        if not self._ended:
            return observation, 0.0, False, False, info
        value, refused = batch.outcome(0)
        reward = batch.reward.sign(value)
        return observation, reward, True, False, {**info, "value": value, "refused": refused}

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return the mask of possible actions, bool[actions], for sb3-contrib's MaskablePPO."""
        possible: npt.NDArray[np.bool_] = self._mask > 0
        return possible

    def schedule(self, name: str = "agent") -> Schedule:
        """Return the schedule of the sample after all its jobs have started.

        Parameters
        ----------
        name : str
            Name of the policy in the schedule.
        """
        if not self._batch.is_done(0):
            raise InputError("the episode has not ended; its schedule has all jobs of the sample")
        # Without a sample, this raises the error of `workload`.
        _ = self.workload
        return self._batch.schedule(0, name)

    def _played(self) -> tuple[Float32, dict[str, Any]]:
        self._ended = self._batch.play() > 0
        return self._seen.copy(), {"action_mask": self._mask.copy()}
