"""Workload models, which draw workloads of any size from a seed, with published parameters."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from schedfarm.core.machines.platform import Platform
from schedfarm.core.models.downey import downey
from schedfarm.core.models.jann import jann
from schedfarm.core.models.lublin import lublin
from schedfarm.core.models.participants import EACH, participants
from schedfarm.core.models.poisson import poisson
from schedfarm.core.workload.workload import Workload

SAMPLE = ("jobs", "weeks", "seed", "index")
"""Parameters of every model: the amount of jobs to draw, and the sample."""


@dataclass(frozen=True)
class Model:
    """Declare a model of workloads.

    Parameters
    ----------
    function : callable
        Function that draws a workload, given a machine, `SAMPLE` and the model's own parameters.
    each : tuple of str
        Parameters that may be a list with one number for each cluster of a network. A model with
        such parameters takes the platform, draws jobs for each cluster, and numbers users and jobs
        by `join`. Other models take the number of processors.
    """

    function: Callable[..., Workload]
    each: tuple[str, ...] = ()

    @property
    def clusters(self) -> bool:
        """Whether the model draws jobs for each cluster of a network."""
        return bool(self.each)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the model's own parameters."""
        _, *names = inspect.signature(self.function).parameters
        return tuple(name for name in names if name not in SAMPLE)

    def draw(self, platform: Platform, **how: Any) -> Workload:
        """Return a workload for a machine.

        Examples
        --------
        >>> from schedfarm.core.machines.pool.platform import Pool
        >>> len(MODELS["poisson"].draw(Pool(100), jobs=5, seed=1))
        5
        """
        return self.function(platform if self.clusters else platform.size, **how)

    def users(self, platform: Platform, parameters: Mapping[str, Any]) -> Iterable[int]:
        """Return the user numbers that can occur in the model's workloads.

        Examples
        --------
        >>> from schedfarm.core.machines.network.platform import Network
        >>> from schedfarm.core.machines.pool.platform import Pool
        >>> list(MODELS["poisson"].users(Pool(100), {"users": 3}))
        [1, 2, 3]
        >>> list(MODELS["participants"].users(Network([5, 5], ["a", "b"]), {"users": 2}))
        [2, 3, 4, 5]
        """
        default = inspect.signature(self.function).parameters["users"].default
        count = int(parameters.get("users", default))
        parts = len(platform.places) if self.clusters else 1
        return range(parts, (count + 1) * parts)


MODELS: Mapping[str, Model] = MappingProxyType(
    {
        "lublin": Model(lublin),
        "downey": Model(downey),
        "jann": Model(jann),
        "poisson": Model(poisson),
        "participants": Model(participants, each=EACH),
    }
)
"""Every model by its name."""
