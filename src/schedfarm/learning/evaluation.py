"""Evaluation of agents on held-out weeks, with the same samples for all agents and policies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.metrics.declared import find_metric
from schedfarm.core.metrics.summary import summarise
from schedfarm.core.schedule import Schedule
from schedfarm.learning.environment import Mask, SchedulingEnv
from schedfarm.learning.views import Float32

if TYPE_CHECKING:
    import xarray as xr

Agent = Callable[[Float32, Mask], int]
"""Function from an observation and a mask to an action."""

METRICS = ("wait", "bounded_slowdown")
"""Default metrics."""


def evaluate(
    env: SchedulingEnv,
    agents: Mapping[str, Agent | str],
    samples: Iterable[int],
    metrics: Sequence[str] = METRICS,
) -> xr.DataTree:
    """Play the same samples of the test weeks under agents and policies.

    Parameters
    ----------
    env : SchedulingEnv
        An environment with ``part="test"``.
    agents : mapping
        Agents by label. An agent is a function of observation and mask that returns an action, or
        the name of a policy for `simulate`. The first agent is the baseline of `compare`.
    samples : iterable of int
        Numbers of the samples.
    metrics : sequence of str
        Metrics of `summarise`, with the tau of the environment.

    Returns
    -------
    DataTree
        A value for each sample and agent, in the form of a store's summary. `compare` and
        `comparison_text` give differences of pairs with intervals. The intervals describe the
        spread of samples of these weeks, not the spread among other logs.

    Raises
    ------
    InputError
        If the environment has training weeks, or a policy or metric is unknown.

    Examples
    --------
    >>> import schedfarm as sf
    >>> env = SchedulingEnv(sf.lublin(jobs=3000, processors=64, seed=1), part="test")
    >>> oldest = lambda observation, mask: int(mask.argmax())
    >>> found = evaluate(env, {"fcfs+easy": "fcfs+easy", "oldest": oldest}, range(1, 4))
    >>> dict(found["wait"].sizes)
    {'trace': 1, 'resample': 3, 'load': 1, 'policy': 2}
    """
    if env.part != "test":
        raise InputError(
            f"an environment of part={env.part!r} shows only memorisation of the training weeks; "
            "evaluate with part='test'"
        )
    import xarray as xr

    rows, numbers, tau = [find_metric(name) for name in metrics], list(samples), env.tau
    values = np.empty((len(rows), len(numbers), len(agents)))
    for i, sample in enumerate(numbers):
        for a, (label, agent) in enumerate(agents.items()):
            found = summarise(_schedule(env, sample, label, agent), tau, names=metrics)
            values[:, i, a] = [found[row.name] for row in rows]
    cells = {
        row.name: (
            ("trace", "resample", "load", "policy"),
            values[m][None, :, None],
            {"units": row.unit, "long_name": row.meaning},
        )
        for m, row in enumerate(rows)
    }
    labels = {"trace": [env.workload.name], "resample": numbers, "load": [env.load_label]}
    return xr.DataTree(xr.Dataset(cells, {**labels, "policy": list(agents)}))


def _schedule(env: SchedulingEnv, sample: int, label: str, agent: Agent | str) -> Schedule:
    """Return the schedule of a sample under an agent or policy."""
    observation, info = env.reset(seed=sample)
    if isinstance(agent, str):
        return simulate(env.workload, agent)
    terminated = False
    while not terminated:
        action = agent(observation, info["action_mask"])
        observation, _, terminated, _, info = env.step(action)
    return env.schedule(label)
