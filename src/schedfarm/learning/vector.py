"""A vector environment of Gymnasium: many simulations that one kernel advances."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box, Discrete
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from schedfarm.core.arrays import Bool, Int64
from schedfarm.core.checks import whole
from schedfarm.core.errors import InputError
from schedfarm.core.stepping.fields import JOBS, STARTED
from schedfarm.core.workload.workload import Workload
from schedfarm.learning.batch import Batch, Settings
from schedfarm.learning.samples import sample_number
from schedfarm.learning.views import FEATURES, Float32

Stepped = tuple[Float32, npt.NDArray[np.float64], Bool, Bool, dict[str, Any]]
"""Observations, rewards, terminated, truncated and infos of a step."""


class SchedulingVectorEnv(VectorEnv[Float32, Int64]):
    """Schedule many samples at once: a batch of `SchedulingEnv`, advanced by one compiled call.

    Environment i starts with sample ``seed + i``, by default number ``1 + i``. After all its jobs
    have started, its next step ignores the action and starts the sample whose number is larger by
    `num_envs` (`AutoresetMode.NEXT_STEP`). The environments therefore play different samples, and
    no sample twice unless `samples` is given.

    Parameters
    ----------
    workload : Workload
        The log.
    num_envs : int
        Number of environments.
    samples : int, optional
        Number of different samples: numbers 1 to `samples` are repeated in a cycle; by default
        there is no last sample. Up to 256 samples are kept in memory, and are started without
        delay.
    copy : bool
        Whether observations and masks are new arrays at each step, instead of being overwritten.

    Other Parameters
    ----------------
    **settings
        part, train, weeks, load, campaign_seed, rule, observation, slots, reward and tau, as for
        `SchedulingEnv`.

    Raises
    ------
    InputError
        For the reasons of `SchedulingEnv`.

    Examples
    --------
    >>> import schedfarm as sf
    >>> envs = SchedulingVectorEnv(sf.lublin(jobs=3000, processors=64, seed=1), 4, rule="easy")
    >>> observations, infos = envs.reset(seed=1)
    >>> observations.shape, infos["action_mask"].shape, infos["sample"].tolist()
    ((4, 64, 8), (4, 64), [1, 2, 3, 4])
    >>> observations, rewards, terminated, truncated, infos = envs.step([0, 0, 0, 0])
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        workload: Workload,
        num_envs: int,
        *,
        samples: int | None = None,
        copy: bool = True,
        **settings: Unpack[Settings],
    ) -> None:
        self.num_envs = whole("num_envs", num_envs, least=1)
        self._batch = Batch.of(workload, self.num_envs, **settings)
        self._samples = None if samples is None else whole("samples", samples, least=1)
        self._copy = copy
        self.single_observation_space = Box(0.0, 1.0, (self._batch.slots, FEATURES), np.float32)
        self.single_action_space = Discrete(self._batch.actions_each)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        # The samples from number 1 on follow.
        self._sample = np.arange(1 - self.num_envs, 1)
        self._ended, self._begun = np.zeros(self.num_envs, np.bool_), False

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Float32, dict[str, Any]]:
        """Start a sample in each environment.

        Parameters
        ----------
        seed : int or sequence of int, optional
            Number of the first sample, or the numbers of all samples, at least 0. By default, and
            in place of None, the next numbers, from 1 on.
        options : dict, optional
            Not used.

        Returns
        -------
        observations : float32[num_envs, slots, 8]
            Observations at the first decisions.
        infos : dict
            ``action_mask``, int8[num_envs, actions], and ``sample``, int64[num_envs].

        Raises
        ------
        InputError
            If `seed` has another length, a number in it is below 0, or a sample has no job.
        """
        for k, sample in enumerate(self._numbers(seed)):
            self._start(k, sample)
        self._ended[:], self._begun = False, True
        return self._played()

    def step(self, actions: npt.ArrayLike) -> Stepped:
        """Play an action in each environment.

        Parameters
        ----------
        actions : int64[num_envs]
            One action for each environment, as for `SchedulingEnv.step`.

        Returns
        -------
        observations, rewards, terminated, truncated, infos
            Arrays over the environments. ``infos["value"]`` has the metric of episodes that have
            just ended, and NaN for the others.

        Raises
        ------
        InputError
            If there is not exactly one action for each environment, or an action is not a whole
            number of the action space.
        gymnasium.error.ResetNeeded
            Before the first `reset`.
        """
        if not self._begun:
            raise ResetNeeded("no sample was started yet; call reset()")
        batch = self._batch
        batch.choose_each(actions)
        for k in np.flatnonzero(self._ended).tolist():
            self._start(k, self._following(k))
        observations, infos = self._played()
        self._ended = batch.states[:, STARTED] == batch.states[:, JOBS]
        rewards = np.zeros(self.num_envs)
        if self._ended.any():
            infos["value"] = np.full(self.num_envs, np.nan)
            for k in np.flatnonzero(self._ended).tolist():
                infos["value"][k] = value = batch.outcome(k)[0]
                rewards[k] = batch.reward.sign(value)
        return observations, rewards, self._ended.copy(), np.zeros(self.num_envs, np.bool_), infos

    def action_masks(self) -> Bool:
        """Return the mask of possible actions, bool[num_envs, actions]."""
        return self._batch.mask > 0

    def _numbers(self, seed: int | Iterable[int | None] | None) -> list[int]:
        """Return the number of the sample with which each environment starts."""
        count = self.num_envs
        if seed is None:
            seed = [None] * count
        elif not isinstance(seed, Iterable):
            first = sample_number("seed", seed)
            seed = range(first, first + count)
        given = list(seed)
        if len(given) != count:
            raise InputError(
                f"seed has {len(given)} numbers; give one for each of the {count} environments"
            )
        return [
            self._following(k) if number is None else sample_number(f"seed[{k}]", number)
            for k, number in enumerate(given)
        ]

    def _following(self, k: int) -> int:
        number = int(self._sample[k]) + self.num_envs
        return number if self._samples is None else (number - 1) % self._samples + 1

    def _start(self, k: int, sample: int) -> None:
        self._sample[k] = sample
        self._batch.load(k, sample)

    def _played(self) -> tuple[Float32, dict[str, Any]]:
        self._batch.play()
        seen, mask = self._batch.seen, self._batch.mask
        if self._copy:
            seen, mask = seen.copy(), mask.copy()
        return seen, {"action_mask": mask, "sample": self._sample.copy()}
