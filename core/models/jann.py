"""The model of Jann et al.: for each class of sizes, hyper-Erlang gaps and run times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.errors import InputError
from schedfarm.core.models.hyper_erlang import HyperErlang
from schedfarm.core.models.parts import Key, check_size, cut, finish, generator, sums
from schedfarm.core.names import choices
from schedfarm.core.workload.workload import Workload


@dataclass(frozen=True)
class Class:
    """Hold a class of jobs: bounds of the processors, and gaps and run times in s."""

    least: int
    most: int
    gap: HyperErlang
    run: HyperErlang


CTC = (
    Class(
        1, 1,
        HyperErlang(1, 0.069152, 0.00014838, 0.0023068),
        HyperErlang(4, 0.38862, 0.00011867, 0.0068489),
    ),
    Class(
        2, 2,
        HyperErlang(1, 0.095706, 3.6216e-05, 0.00087244),
        HyperErlang(8, 0.3087, 0.00017589, 0.04107),
    ),
    Class(
        3, 4,
        HyperErlang(1, 0.12907, 6.2297e-05, 0.0013343),
        HyperErlang(5, 0.20679, 0.00014273, 0.034832),
    ),
    Class(
        5, 8,
        HyperErlang(1, 0.2152, 7.1819e-05, 0.001624),
        HyperErlang(2, 0.22138, 9.6137e-05, 0.0030021),
    ),
    Class(
        9, 16,
        HyperErlang(1, 0.10641, 6.7169e-05, 0.00071552),
        HyperErlang(3, 0.31553, 0.00011279, 0.020711),
    ),
    Class(
        17, 32,
        HyperErlang(1, 0.12487, 3.3801e-05, 0.00037867),
        HyperErlang(3, 0.31498, 0.00010442, 0.019407),
    ),
    Class(
        33, 64,
        HyperErlang(1, 0.4416, 5.5519e-05, 0.0015189),
        HyperErlang(3, 0.41338, 0.00010124, 0.0092439),
    ),
    Class(
        65, 128,
        HyperErlang(2, 0.50297, 3.345e-05, 0.00046356),
        HyperErlang(6, 0.28708, 0.00013775, 0.018988),
    ),
    Class(
        129, 256,
        HyperErlang(2, 0.16914, 5.7852e-06, 0.00027865),
        HyperErlang(1, 0.30917, 0.00029303, 0.0062923),
    ),
    Class(
        257, 322,
        HyperErlang(1, 0.14792, 1.6706e-06, 1.7637e-05),
        HyperErlang(6, 0.2064, 0.00014438, 0.033927),
    ),
)  # fmt: skip
"""The paper's classes by powers of two, fitted by `core.models.hyper_erlang.fit` to the archive's
CTC log until 1996-09-12. This part of the log has 17,826 jobs that can be simulated; the paper
counts 17,440."""

SIZES = ("uniform", "largest")
"""Choices of the number of processors of a job in a class."""


def jann(
    processors: int,
    *,
    jobs: int | None = None,
    weeks: int | None = None,
    seed: int = 0,
    index: int = 0,
    load: float | None = None,
    sizes: str = "uniform",
    users: int = 64,
    estimates: str = "f-model",
    f: float = 5.0,
    max_estimate: int | None = None,
) -> Workload:
    """Draw a workload from the model by Jann et al. of the IBM SP2 at Cornell in summer 1996.

    Jobs are divided into classes by size. Each class has its own arrivals and run times, all
    independent. The times between submissions of a class and the run times have hyper-Erlang
    distributions of common order, which match three moments of the log. There is no daily cycle.

    Method, classes and the days of the log are as published. The paper's tables of parameters could
    not be obtained, so the parameters here are fitted by the paper's method to the same days of the
    archive's cleaned log (`CTC`). They agree with the paper's description of its tables: most times
    between submissions need a single stage, and run times need up to eight stages (up to seven in
    the paper). The paper does not give the sizes of jobs within a class either; `sizes` chooses
    them. Classes wider than the machine are left out, and a class that is partly wider is narrowed.
    Submissions are rounded down to whole seconds, run times to the nearest second. Users are as in
    `core.lublin`. A shorter workload with the same seed and index is the beginning of a longer
    workload, unless estimates are Tsafrir's.

    Parameters
    ----------
    processors : int
        Size of the machine; 322 processors of the modelled machine were in use.
    jobs, weeks : int, optional
        Amount to draw: this number of jobs, or all jobs submitted in this number of weeks. Exactly
        one of them is given.
    seed, index : int
        Seed of the campaign, and number of the sample of the model.
    load : float, optional
        Scale run times to this offered load, as `core.scale_load`; by default the model's own.
    sizes : {"uniform", "largest"}
        Size of a job in its class: all sizes with equal probability, or always the largest size,
        which is a power of two or 322.
    users : int
        Number of users.
    estimates, f, max_estimate
        As for `core.models.estimates.draw_estimates`.

    Returns
    -------
    Workload
        The jobs of all classes, merged by submission; at one instant, smaller classes come first.

    Raises
    ------
    InputError
        If a parameter is out of range, or not exactly one of `jobs` and `weeks` is given.

    References
    ----------
    J. Jann, P. Pattnaik, H. Franke, F. Wang, J. Skovira, J. Riordan, Modeling of workload in
    MPPs, JSSPP 1997.

    Examples
    --------
    >>> w = jann(128, jobs=1000, seed=7)
    >>> len(w), int(w.procs.max()) <= 128, w.name
    (1000, True, 'jann-128')
    """
    key = check_size("jann", processors, jobs, weeks, seed, index)
    if sizes not in SIZES:
        raise InputError(f"sizes={sizes!r} is unknown; {choices(sizes, SIZES)}")
    classes = [kind for kind in CTC if kind.least <= processors]
    instants = [cut(_arrivals(kind, key), jobs, weeks) for kind in classes]
    which = np.repeat(np.arange(len(classes)), [each.size for each in instants])
    submit = np.concatenate(instants)
    order = np.argsort(submit, kind="stable")[:jobs]
    submit, which = submit[order], which[order]
    procs, run = np.empty_like(submit), np.empty_like(submit)
    for number, kind in enumerate(classes):
        own = which == number
        count = int(np.count_nonzero(own))
        procs[own] = _sizes(kind, int(processors), count, sizes, key)
        drawn = kind.run.draw(generator(key, kind.least, "runs"), count)
        run[own] = np.rint(drawn).astype(np.int64)
    return finish(
        key,
        int(processors),
        (submit, procs, run),
        users=users,
        estimates=estimates,
        f=f,
        max_estimate=max_estimate,
        load=load,
    )


def _arrivals(kind: Class, key: Key) -> Iterator[Int64]:
    draw = generator(key, kind.least, "arrivals")
    for block in sums(lambda size: kind.gap.draw(draw, size)):
        yield block.astype(np.int64)


def _sizes(kind: Class, processors: int, count: int, sizes: str, key: Key) -> Int64:
    most = min(kind.most, processors)
    if sizes == "largest":
        return np.full(count, most, np.int64)
    uniform = generator(key, kind.least, "sizes").random(count)
    return kind.least + (uniform * (most - kind.least + 1)).astype(np.int64)
