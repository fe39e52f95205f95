"""Precompile kernels: run one tiny simulation for each kind of kernel.

A kernel is compiled for one combination of types, so any workload suffices. Kernels in the disk
cache are read instead of compiled, so an interrupted precompilation continues.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from schedfarm.core.engine.compiling import each_compiled
from schedfarm.core.engine.fair_start import ARRIVAL, KINDS, fair_start_times
from schedfarm.core.engine.promises import promises
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.machines.grid.platform import Grid
from schedfarm.core.machines.hosts.platform import Hosts
from schedfarm.core.machines.network.platform import Network
from schedfarm.core.machines.nodes.platform import Nodes
from schedfarm.core.machines.partitions.platform import Partitions
from schedfarm.core.machines.platform import Platform
from schedfarm.core.machines.pool.platform import Pool
from schedfarm.core.machines.resources.platform import Resources
from schedfarm.core.metrics.fairness import resource_equality, slips_and_skips
from schedfarm.core.metrics.summary import by_origin, summarise
from schedfarm.core.own import sources
from schedfarm.core.policy.options import OPTIONS
from schedfarm.core.policy.orders import ORDERS, Order
from schedfarm.core.policy.policy import Policy
from schedfarm.core.policy.rules import RULES, Rule
from schedfarm.core.workload.workload import Workload

MACHINES: tuple[Platform, ...] = (
    Pool(2),
    Grid([1, 1], ["a", "b"]),
    Nodes([1, 1], ["a", "b"]),
    Network([1, 1], ["a", "b"], [1_000, 1_000]),
    Resources(2, {"gpus": 1}),
    Partitions(3, {}, {"a": 1, "a,b": 1, "b": 1}, {"a": 1, "b": 2}),
    Hosts([{"count": 2, "processors": 1}]),
)
"""A machine of each kind."""

OWN = {
    "precompile": """
from schedfarm.rule import fits, start


def by_age(submit, estimate, procs, user, now):
    return submit


def greedy(state):
    for j in state.waiting:
        if fits(state, j):
            start(state, j)
"""
}
"""A plug-in order and a plug-in rule, which are called at each pass."""

CALLED = "precompile:by_age"

DECIDED = "fcfs+precompile:greedy"

LIMITED = "limits=(root.GrpJobs=3)"
"""A limit that the few jobs here do not reach."""

WRITTEN = "(-(now - submit) / max(estimate, 1))"
"""An order that is an expression, which kernels evaluate at each pass."""

DEPTH = "(2)"
"""Value for K in rules that take a number; it does not change the kernel."""


class Precompiled(NamedTuple):
    """Hold a policy's name, a kind of platform, and the number of functions compiled for both.

    The number is 0 if all kernels were in the cache.
    """

    policy: str
    machine: str
    compiled: int


def every_policy() -> list[Policy]:
    """Return a policy for each kind of kernel: each rule with each kind of order that it supports.

    Also return a policy with limits for each rule that supports them, and a policy with a plug-in
    rule.

    Examples
    --------
    >>> [policy.name for policy in every_policy()][:2]
    ['fcfs+none', 'lxf+none']
    """
    kinds: dict[tuple[bool, ...], Order] = {}
    for order in ORDERS.values():
        kind = (order.code is None, order.shares is None, order.weighs is None)
        kinds.setdefault(kind, order)
    names = [*(order.name for order in kinds.values()), WRITTEN, CALLED]
    shared = [order.name for order in kinds.values() if order.shares]
    found = [_policy(name, rule) for rule in RULES.values() for name in names]
    found += [_policy(f, rule, f"backfill={CALLED}") for rule in RULES.values() for f in shared]
    found += [_policy("fcfs", r, LIMITED) for r in RULES.values() if "limits" in r.options]
    with sources(OWN):
        found.append(Policy.parse(DECIDED))
    return [policy for policy in found if policy is not None]


def _policy(order: str, rule: Rule, *options: str) -> Policy | None:
    """Return a policy of a rule and an order, with an option if needed; None if they do not fit."""
    head = ",".join((f"{order}+{rule.name.replace('(K)', DEPTH)}", *options))
    with sources(OWN):
        for more in ("", *(f",{name}={OPTIONS[name].example}" for name in rule.options)):
            with suppress(InputError):
                return Policy.parse(head + more)
    return None


def precompile(policies: Sequence[Policy]) -> Iterator[Precompiled]:
    """Compile all kernels that policies need on each kind of machine, and yield the results.

    The kernels are for simulations, starts promised at arrival, fair start times and metrics.

    Examples
    --------
    >>> [one.machine for one in precompile([Policy.parse("fcfs+logged")])]
    ['pool']
    """
    for policy in policies:
        with sources(OWN):
            platforms = policy.row.platforms
        for machine in MACHINES:
            known = machine.name in platforms
            if known and (count := _compiled(policy, machine)) is not None:
                yield Precompiled(policy.name, machine.name, count)


def cache_folder() -> Path | None:
    """Return the folder of compiled kernels; None if no folder can be written.

    Raises `InputError` if the JIT is switched off, or if plain `njit` compiles the kernels.
    """
    from schedfarm.core.engine.fixed_order import run_fixed
    from schedfarm.core.engine.toolchain import PLAIN, TESTED, VARIABLE

    if PLAIN:
        (low, high), (end, first) = TESTED
        raise InputError(
            f"kernels are cached with numba {low}.{high} to {end}.{first - 1} only, and without "
            f"{VARIABLE}: there is nothing to precompile"
        )
    from schedfarm.core.engine.cache import folder, is_writable

    if not hasattr(run_fixed, "stats"):
        raise InputError("NUMBA_DISABLE_JIT=1 leaves nothing to compile; unset it")
    place = folder()
    return place if place is not None and is_writable(place) else None


def _compiled(policy: Policy, machine: Platform) -> int | None:
    """Run everything that uses a policy on a machine; return the number of functions compiled.

    None if the policy's rule supports its order only on other machines.
    """
    count = 0

    def more() -> None:
        nonlocal count
        count += 1

    jobs = _jobs(machine)
    with sources(OWN), each_compiled(more):
        try:
            schedule = simulate(jobs, policy)
        except InputError:
            return None
        summarise(schedule)
        by_origin(schedule)
        slips_and_skips(schedule)
        resource_equality(schedule)
        promises(jobs, policy)
        for kind in KINDS:
            for later in (ARRIVAL, policy.order):
                _fair(jobs, policy, kind, later)
    return count


def _fair(jobs: Workload, policy: Policy, kind: str, later: str) -> None:
    try:
        fair_start_times(jobs, policy, kind, later=later)
    except InputError:
        # The rule has no fair starts of this kind, or does not support the order.
        return


def _jobs(machine: Platform) -> Workload:
    time, one = np.arange(1, 4), np.ones(3, np.int64)
    return Workload.from_columns(
        submit=time,
        run=time,
        estimate=time + 1,
        procs=one,
        user=time,
        group=one,
        queue=one,
        partition=one,
        logged_wait=time,
        platform=machine,
    )
