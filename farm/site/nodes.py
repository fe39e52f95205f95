"""Nodes of a dump as hosts: groups of equal nodes, in the order in which jobs take them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from schedfarm.core.errors import InputError
from schedfarm.core.folded import folded, listed
from schedfarm.core.machines.hosts.platform import COUNT
from schedfarm.core.machines.hosts.windows import hosts_text
from schedfarm.core.machines.resources.platform import PROCESSORS, UNITS
from schedfarm.core.numerals import counted
from schedfarm.core.workload.workload import Workload
from schedfarm.farm.site.dump.conf import Conf
from schedfarm.farm.site.dump.facts import Fact, whole
from schedfarm.farm.site.dump.kinds import KINDS
from schedfarm.farm.site.dump.sinfo import Nodes
from schedfarm.farm.site.hosts import Hosted
from schedfarm.farm.site.notes import Note
from schedfarm.farm.site.partition_limits import partition_limits, used_of
from schedfarm.farm.site.stocks import STOCKS, on_nodes, takes_nodes
from schedfarm.farm.site.windows import Maintained, of_hosts, unsimulated, windows_of

SINFO, ACCOUNTING, CONF = (KINDS[name].file for name in ("sinfo", "accounting", "conf"))

SHOWN = 3
"""Largest number of host lists in a source."""


def hosted_of(
    jobs: Workload,
    nodes: Nodes,
    chosen: frozenset[str],
    conf: Conf,
    maintained: Sequence[Maintained],
    processors: int | None = None,
) -> tuple[Hosted, Workload, list[Note]]:
    """Return the nodes of chosen partitions as hosts, the jobs on these hosts, and notes.

    processors: number of processors of all hosts, by default sinfo's.
    """
    weights, notes = _weights(conf)
    names = _ordered(nodes, nodes.of(chosen), weights)
    number_of = {name: number for number, name in enumerate(names)}
    started = jobs.take(jobs.leave < 0)
    stocks, lacking = on_nodes(started, [nodes.nodes[name] for name in names], conf)
    exclusive, shared = _exclusive(conf, _named(jobs, chosen) or sorted(chosen))
    times, widest, limited = partition_limits(jobs, conf, used_of(jobs, chosen))
    partitions = _partitions(jobs, nodes, number_of, chosen, needed=bool(times or widest))
    hosted = Hosted(
        _groups(names, nodes, stocks, weights),
        exclusive,
        partitions,
        {name: most for name, most in times.items() if name in partitions},
        {name: most for name, most in widest.items() if name in partitions},
        windows_of(maintained, of_hosts(number_of)),
    )
    hosted, unwithheld = _without_wrong_windows(hosted, maintained)
    if processors is not None:
        hosted = hosted.sized(processors)
    hosted, placed, undivided = _placed(hosted, jobs)
    notes += [*lacking, *shared, *limited, *unwithheld, *undivided, _choice(conf)]
    notes += [*_unknown(started), *_lost(started, placed)]
    return hosted, placed, notes


def _weights(conf: Conf) -> tuple[dict[str, Fact[int]], list[Note]]:
    """Return Weight by node, if a node has it, and notes on lines for other names of nodes."""
    found: dict[str, Fact[int]] = {}
    notes: list[Note] = []
    for names, line in conf.nodes.items():
        text = line.value.get("weight")
        if text is None:
            continue
        weight = Fact(whole(f"{line.source}: Weight", text), line.source)
        try:
            found |= dict.fromkeys(listed(names, "NodeName"), weight)
        except InputError as error:
            effect = f"{error}; jobs take these nodes as if their weight were 1"
            notes.append(Note(f"Weight={text} of nodes {names}", line.source, effect))
    return found, notes


def _ordered(nodes: Nodes, there: frozenset[str], weights: Mapping[str, Fact[int]]) -> list[str]:
    """Return the names of nodes with CPUs, in the order in which jobs take these nodes.

    Nodes are sorted by weight, then in the order of sinfo. Equal nodes of one weight are adjacent,
    since a smaller machine has a share of each group.
    """
    with_cpus = [name for name in nodes.nodes if name in there and nodes.nodes[name].cpus]
    first: dict[tuple[int, ...], int] = {}

    def place(name: str) -> tuple[int, int]:
        node, weight = nodes.nodes[name], weights[name].value if name in weights else 1
        kind = (weight, node.cpus, node.gpus, node.memory)
        return weight, first.setdefault(kind, len(first))

    return sorted(with_cpus, key=place)


def _groups(
    names: Iterable[str],
    nodes: Nodes,
    stocks: Sequence[str],
    weights: Mapping[str, Fact[int]],
) -> list[Fact[dict[str, int]]]:
    """Return the size and the amounts of each group of consecutive equal nodes."""

    def amounts(name: str) -> dict[str, int]:
        node = nodes.nodes[name]
        return {PROCESSORS: node.cpus} | {stock: STOCKS[stock].of(node) for stock in stocks}

    found = []
    for each, run in groupby(names, amounts):
        together = list(run)
        lists = folded(together)
        shown = ", ".join(lists[:SHOWN]) + ", ..." * (len(lists) > SHOWN)
        lines = dict.fromkeys(weights[name] for name in together if name in weights)
        also = "".join(f"; {one.source}, Weight={one.value}" for one in lines)
        source = f"{SINFO}: {counted(len(together), 'node')}, {shown}{also}"
        found.append(Fact({COUNT: len(together)} | each, source))
    return found


def _named(jobs: Workload, chosen: frozenset[str]) -> list[str]:
    """Return the chosen partitions that jobs name, alone or in a list."""
    names = jobs.names.get("partition", {})
    labels = (names.get(number, "") for number in np.unique(jobs.partition).tolist())
    return sorted({name.strip() for label in labels for name in label.split(",")} & chosen)


def _partitions(
    jobs: Workload,
    nodes: Nodes,
    number_of: Mapping[str, int],
    chosen: frozenset[str],
    *,
    needed: bool,
) -> dict[str, Fact[str]]:
    """Return the hosts of partitions with jobs; empty if all have all hosts, unless `needed`."""
    count = len(number_of)
    hosts_of = {
        name: [number_of[node] for node in nodes.partitions[name] & number_of.keys()]
        for name in _named(jobs, chosen)
    }
    if not needed and all(len(hosts) == count for hosts in hosts_of.values()):
        return {}
    return {
        name: Fact(
            hosts_text(f"partition {name}", hosts, count) or f"0-{count - 1}",
            f"{SINFO}: {counted(len(hosts), 'node')}",
        )
        for name, hosts in hosts_of.items()
        # A partition whose nodes have no CPUs is not declared; the note of `_placed` reports it.
        if hosts
    }


def _exclusive(conf: Conf, partitions: Sequence[str]) -> tuple[Fact[bool], list[Note]]:
    """Return whether nodes run one job at a time, and a note if only some partitions do so."""
    if linear := takes_nodes(conf):
        return Fact(True, f"{linear.source}, SelectType={linear.value}"), []
    alone: dict[str, str] = {}
    for name in partitions:
        line = conf.partitions.get(name)
        for key in ("OverSubscribe", "Shared"):
            value = line.value.get(key.lower(), "") if line else ""
            if line and value.partition(":")[0].lower() == "exclusive":
                alone[name] = f"{line.source}, {key}={value}"
    if not alone:
        return Fact(False, CONF), []
    source = "; ".join(dict.fromkeys(alone.values()))
    if len(alone) == len(partitions):
        return Fact(True, source), []
    what = f"whole nodes of jobs of partition{'s' * (len(alone) > 1)} {', '.join(alone)}"
    return Fact(False, CONF), [
        Note(what, source, "they share nodes with other jobs here, so that all wait less")
    ]


def _without_wrong_windows(
    hosted: Hosted, maintained: Sequence[Maintained]
) -> tuple[Hosted, list[Note]]:
    """Return the hosts; without windows, and with a note, if there are too many windows."""
    try:
        _ = hosted.how
    except InputError as error:
        if not hosted.windows:
            raise
        return replace(hosted, windows=()), [*unsimulated(maintained, str(error))]
    return hosted, []


def _placed(hosted: Hosted, jobs: Workload) -> tuple[Hosted, Workload, list[Note]]:
    """Return the hosts and the jobs on them; drop partitions, with a note, if a job fits none."""
    try:
        return hosted, hosted.put(jobs), []
    except InputError as error:
        if not hosted.partitions:
            raise
        effect = f"{error}; jobs of all partitions use all nodes, so that those of some wait less"
    whole_machine = replace(hosted, partitions={}, max_time={}, max_nodes={})
    note = Note("the nodes of each partition", SINFO, effect)
    return whole_machine, whole_machine.put(jobs), [note]


def _choice(conf: Conf) -> Note:
    given = conf.get("SelectType", "select/cons_tres")
    return Note(
        "Slurm's choice of the nodes of a job",
        f"{given.source}, SelectType={given.value}",
        "jobs take free hosts of the lowest numbers and equal shares of each; others (by topology, "
        "fewest nodes, uneven splits) make waits longer or shorter",
    )


def _unknown(jobs: Workload) -> Iterator[Note]:
    """Yield a note on jobs whose number of nodes is missing in the log."""
    if unknown := int((jobs.nodes <= 0).sum()):
        of = "all jobs" if unknown == len(jobs) else counted(unknown, "job")
        effect = "each takes the fewest hosts that have its processors, GPUs and memory"
        yield Note(f"the number of nodes of {of}", f"{ACCOUNTING}, NNodes", effect)


def _lost(jobs: Workload, placed: Workload) -> Iterator[Note]:
    """Yield a note on jobs that do not fit the hosts."""
    lost = np.flatnonzero(~np.isin(jobs.job, placed.job))
    if not lost.size:
        return
    first = int(lost[0])
    asked = counted(int(jobs.procs[first]), "processor")
    for name in STOCKS:
        amount = int(getattr(jobs, name)[first])
        asked += f", {amount} {UNITS[name]}" * (amount > 0)
    on = counted(int(jobs.nodes[first]), "node") if jobs.nodes[first] > 0 else "any nodes"
    on += " of its partition" * ("partition" in placed.platform.asks)
    if jobs.estimate[first] == 0:
        asked, on = "an estimate of 0 s", "any nodes"
    yield Note(
        f"{counted(lost.size, 'job')} that the nodes cannot hold",
        f"{ACCOUNTING}, job {jobs.job[first]} first",
        f"{asked} on {on}; others wait less",
    )
