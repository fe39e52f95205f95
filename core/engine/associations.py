"""Conversion of Slurm's priority arguments and a workload to the tree of associations."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from schedfarm.core.arrays import Float64, Int64
from schedfarm.core.engine.priority import Constants, TreeState, Weights
from schedfarm.core.engine.record import record
from schedfarm.core.policy.multifactor import TIER, USUAL_TIER, Multifactor
from schedfarm.core.workload.workload import Workload

_UNUSED = Constants(False, False, 1, 1, 1.0, 1.0, 2.0, 0.0, 0.0)


def unused_weights() -> Weights:
    """Return empty weights, for orders other than Slurm's priority."""
    none, zeros = np.zeros(0, np.int64), np.zeros(0)
    return Weights(
        _UNUSED, np.zeros(1, np.int64), none, none.copy(), zeros, none.copy(), zeros.copy(),
        none.copy(), none.copy(), zeros.copy(), none.copy(), zeros.copy(), zeros.copy(),
        zeros.copy(), none.copy(), np.zeros(1, np.int64), np.zeros((0, 1), np.int64), none.copy(),
        record(TreeState),
    )  # fmt: skip


def weights_of(workload: Workload, given: Multifactor) -> Weights:
    """Return the weights of a workload's jobs, with no usage yet.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 1], run=[9, 7], estimate=[9, 7], procs=[1, 2],
    ...                           user=[8, 9], processors=4)
    >>> weights = weights_of(w, Multifactor(size=100))
    >>> weights.steady.tolist(), weights.leaf.tolist(), weights.normal.tolist()
    ([25.0, 50.0], [0, 1], [1.0, 1.0, 0.5, 0.5])
    """
    given.check_names(workload.names)
    parents, shares, pairs, leaf = _associations(workload, given)
    accounts, number = len(parents), len(parents) + len(pairs)
    parent = np.array([*parents, *(account for account, _ in pairs)], np.int64)
    share = np.array([*shares, *(count for _, count in pairs)], np.int64)
    child, first, part, normal = _tree(parent, share, accounts)
    decay = 0.5 ** (given.calc / given.halflife) if given.halflife else 1.0
    path = _paths(parent, accounts)
    state = record(TreeState)
    state[0].stale = 1
    constants = Constants(
        True, given.algorithm == "classic", given.calc, given.max_age, decay,
        float(given.damping), 2.0, float(given.age), float(given.fairshare),
    )  # fmt: skip
    return Weights(
        constants,
        # Kernels are compiled for writable arrays only; this includes the arrays of an unused
        # order.
        workload.submit.copy(),
        workload.procs.copy(),
        leaf,
        _steady(workload, given),
        _tiers(workload, given.tiers),
        np.zeros(number),
        np.zeros(len(pairs), np.int64),
        np.zeros(len(pairs), np.int64),
        np.zeros(len(pairs)),
        parent,
        part,
        normal,
        np.zeros(number),
        child,
        first,
        path,
        np.arange(len(pairs)),
        state,
    )


def copied(weights: Weights) -> Weights:
    """Return weights with separate usage and factors, for a clone."""
    mutable = ("usage", "pending", "held", "fair", "value", "order", "state")
    return weights._replace(**{name: getattr(weights, name).copy() for name in mutable})


def _labels(workload: Workload, column: str, numbers: Int64) -> list[str]:
    """Return the names in the log of some numbers; a number without a name becomes its text."""
    names = workload.names.get(column, {})
    return [names.get(number, str(number)) for number in numbers.tolist()]


def _associations(
    workload: Workload, given: Multifactor
) -> tuple[list[int], list[int], list[tuple[int, int]], Int64]:
    """Return accounts' parents and shares, the associations, and each job's association by index.

    The root is the first account. An association is a user's account, by index, and the user's
    shares in it.
    """
    parents, shares, index = [0], [1], {"": 0}
    for name, row in given.accounts.items():
        index[name] = len(parents)
        parents.append(index[row.parent])
        shares.append(row.shares)
    # A loop numbers the associations: a sort of two-column rows took a sixth of a simulation's
    # time.
    (groups, of_group), (users, of_user) = (
        np.unique(getattr(workload, name), return_inverse=True) for name in ("group", "user")
    )
    found, which = np.unique(of_group * users.size + of_user, return_inverse=True)
    above = _labels(workload, "group", groups[found // users.size])
    names = _labels(workload, "user", users[found % users.size])
    listed = {pair: place for place, pair in enumerate(given.users)}
    pairs = [(index[account], count) for (_, account), count in given.users.items()]
    place = np.empty(len(found), np.int64)
    for k, (user, account) in enumerate(zip(names, above, strict=True)):
        if account not in index:
            index[account] = len(parents)
            parents.append(0)
            shares.append(1)
        if (user, account) not in listed:
            listed[user, account] = len(pairs)
            pairs.append((index[account], 1))
        place[k] = listed[user, account]
    return parents, shares, pairs, place[which]


def _tree(parent: Int64, share: Int64, accounts: int) -> tuple[Int64, Int64, Float64, Float64]:
    """Return the accounts' children, the index of each first child, and two arrays of shares.

    The first array has each share divided by the sum over the siblings; the second has the product
    of these quotients along the path from the root.
    """
    number = parent.size
    # For each account: first its users, then its accounts, each group in order.
    nodes = np.concatenate((np.arange(accounts, number), np.arange(1, accounts)))
    child = nodes[np.argsort(parent[nodes], kind="stable")]
    first = np.searchsorted(parent[child], np.arange(accounts + 1))
    below = np.bincount(parent[nodes], weights=share[nodes], minlength=accounts)
    part, normal = np.ones(number), np.ones(number)
    for i in [*range(1, accounts), *range(accounts, number)]:
        total = below[parent[i]]
        part[i] = share[i] / total if total > 0 else 0.0
        normal[i] = normal[parent[i]] * part[i]
    return child, first, part, normal


def _paths(parent: Int64, accounts: int) -> Int64:
    """Return the path to each association, without the root and padded with -1."""
    paths = []
    for leaf in range(accounts, parent.size):
        path = [leaf]
        while parent[path[0]] != 0:
            path.insert(0, int(parent[path[0]]))
        paths.append(path)
    depth = max(map(len, paths), default=1)
    rows = [[*path, *[-1] * (depth - len(path))] for path in paths]
    return np.array(rows, np.int64).reshape(-1, depth)


def _steady(workload: Workload, given: Multifactor) -> Float64:
    """Return the part of each job's priority that does not change."""
    machine, procs = workload.processors, workload.procs
    if given.relative_to_time:
        minutes = np.maximum(1, -(-workload.estimate // 60))
        size = procs / minutes / machine
        size = 1.0 - size if given.favor_small else size
    else:
        size = (machine - procs if given.favor_small else procs) / machine
    factor = _factors(workload, "partition", given.partitions, 1)
    qos = _factors(workload, "queue", given.qos_priorities, 0)
    steady = given.size * size + given.partition * factor + given.qos * qos
    return np.asarray(steady + given.cpu * (procs / machine), np.float64)


def _tiers(workload: Workload, tiers: Mapping[str, int]) -> Int64:
    """Return the amount that the partition's tier adds to each job's priority, int64[n]."""
    if not tiers:
        return np.zeros(len(workload), np.int64)
    numbers, which = np.unique(workload.partition, return_inverse=True)
    labels = _labels(workload, "partition", numbers)
    values = np.array([tiers.get(label, USUAL_TIER) for label in labels], np.int64)
    return np.asarray(values[which.ravel()] * TIER)


def _factors(workload: Workload, column: str, listed: Mapping[str, int], default: int) -> Float64:
    """Return the factor of each job's partition or QOS, divided by the largest factor."""
    numbers, which = np.unique(getattr(workload, column), return_inverse=True)
    values = [listed.get(label, default) for label in _labels(workload, column, numbers)]
    largest = max([*values, *listed.values()], default=0)
    factors = np.array(values, np.float64) / largest if largest > 0 else np.zeros(len(values))
    return factors[which]
