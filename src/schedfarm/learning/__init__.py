"""Scheduling as an environment for reinforcement learning, with the interface of Gymnasium.

The package needs the extra ``gym``. Episodes are weekly resamples of a log: training uses only the
first weeks of the log, and evaluation only the other weeks. `Retrained` predicts run times by a
regressor of scikit-learn, and needs the extra ``predict``.

Examples
--------
>>> import schedfarm as sf
>>> from schedfarm.learning import SchedulingEnv
>>> env = SchedulingEnv(sf.lublin(jobs=3000, processors=64, seed=1), part="train")
>>> observation, info = env.reset(seed=7)
>>> observation.shape, int(env.action_space.n), info["sample"]
((64, 8), 65, 7)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from schedfarm.core.errors import InputError

if TYPE_CHECKING:
    from schedfarm.learning.environment import SchedulingEnv
    from schedfarm.learning.evaluation import evaluate
    from schedfarm.learning.regression import Retrained
    from schedfarm.learning.samples import split_weeks
    from schedfarm.learning.vector import SchedulingVectorEnv

__all__ = ["Retrained", "SchedulingEnv", "SchedulingVectorEnv", "evaluate", "split_weeks"]

_MODULES = {
    "Retrained": "regression",
    "SchedulingEnv": "environment",
    "SchedulingVectorEnv": "vector",
    "evaluate": "evaluation",
    "split_weeks": "samples",
}


def __getattr__(name: str) -> Any:
    """Return a public name; only environments import Gymnasium."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    except ModuleNotFoundError as error:
        if error.name != "gymnasium":
            raise
        raise InputError(
            f"{__name__}.{name} needs gymnasium; install it with pip install 'schedfarm[gym]'"
        ) from error
