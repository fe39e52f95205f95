"""Resources besides processors (GPUs, memory) that may delay a site's jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from schedfarm.core.numerals import counted
from schedfarm.core.workload.workload import Workload
from schedfarm.farm.site.dump.conf import Conf
from schedfarm.farm.site.dump.facts import Fact
from schedfarm.farm.site.dump.kinds import KINDS
from schedfarm.farm.site.dump.sinfo import Node
from schedfarm.farm.site.notes import Note

SINFO, ACCOUNTING = KINDS["sinfo"].file, KINDS["accounting"].file


@dataclass(frozen=True)
class Stock:
    """Declare a resource: its name in texts, and its amount on a node, in the unit of requests.

    unasked: jobs whose requests the log lacks, and the source of this fact; None if the log has all
    requests.
    """

    word: str
    of: Callable[[Node], int]
    unasked: Callable[[Workload, Conf], tuple[str, str] | None]


def _uncounted(jobs: Workload, conf: Conf) -> tuple[str, str] | None:
    given = conf.get("AccountingStorageTRES", "")
    if "gres/gpu" in given.value.lower() or jobs.gpus.max() > 0:
        return None
    return "all jobs", f"{given.source}, AccountingStorageTRES={given.value}"


def _unknown(jobs: Workload, conf: Conf) -> tuple[str, str] | None:
    count = int((jobs.memory < 0).sum())
    defaults = (conf.get(key, "") for key in ("DefMemPerCPU", "DefMemPerNode"))
    given = [f"{one.source} gives them {one.value} MB" for one in defaults if one.value]
    return (counted(count, "job"), ", ".join([ACCOUNTING, *given])) if count else None


STOCKS: Mapping[str, Stock] = MappingProxyType({
    "gpus": Stock("GPUs", lambda node: node.gpus, _uncounted),
    "memory": Stock("memory", lambda node: node.memory * 2**20, _unknown),
})  # fmt: skip
"""Resources by the column of jobs' requests."""


def stocks_of(
    jobs: Workload, nodes: Sequence[Node], conf: Conf
) -> tuple[dict[str, Fact[int]], list[Note]]:
    """Return the capacities of resources that may delay a job, and notes on others.

    If each job requests at most its processors' share of a resource, processors run out first.
    """
    found: dict[str, Fact[int]] = {}
    notes: list[Note] = []
    processors = sum(node.cpus for node in nodes)
    for name, amount in _consumed(nodes, conf):
        asked = getattr(jobs, name)
        notes += _unasked(name, amount, jobs, conf)
        if asked.max() > amount:
            notes.append(_lacking(name, amount, jobs, nodes))
        elif (asked / jobs.procs).max() * processors > amount:
            found[name] = Fact(amount, _source(name, nodes))
    if found:
        words = " and ".join(STOCKS[name].word for name in found)
        effect = "the machine has one stock, so that a job that no single node could hold starts"
        notes.append(Note(f"the {words} of each node", SINFO, effect))
    return found, notes


def on_nodes(
    jobs: Workload, nodes: Sequence[Node], conf: Conf
) -> tuple[tuple[str, ...], list[Note]]:
    """Return the resources that some nodes have, and notes on missing requests and resources."""
    found: list[str] = []
    notes: list[Note] = []
    for name, amount in _consumed(nodes, conf):
        notes += _unasked(name, amount, jobs, conf)
        if amount:
            found.append(name)
        elif getattr(jobs, name).max() > 0:
            notes.append(_lacking(name, amount, jobs, nodes))
    return tuple(found), notes


def takes_nodes(conf: Conf) -> Fact[str] | None:
    """Return the fact of a SelectType that allocates whole nodes; None for other types."""
    given = conf.get("SelectType", "select/cons_tres")
    return given if given.value.lower() == "select/linear" else None


def _consumed(nodes: Sequence[Node], conf: Conf) -> Iterator[tuple[str, int]]:
    """Yield the resources that Slurm allocates to jobs, and the total amount on all nodes."""
    default = "none" if takes_nodes(conf) else "CR_Core_Memory"
    memory = "memory" in conf.get("SelectTypeParameters", default).value.lower()
    for name in ("gpus", "memory") if memory else ("gpus",):
        yield name, sum(map(STOCKS[name].of, nodes))


def _source(name: str, nodes: Sequence[Node]) -> str:
    return f"{SINFO}: {STOCKS[name].word} of {counted(len(nodes), 'node')}"


def _unasked(name: str, amount: int, jobs: Workload, conf: Conf) -> Iterator[Note]:
    """Yield a note on jobs without a request of an existing resource, if there are any."""
    stock = STOCKS[name]
    if unasked := stock.unasked(jobs, conf) if amount else None:
        effect = "the log has no request, so that they wait less"
        yield Note(f"the {stock.word} of {unasked[0]}", unasked[1], effect)


def _lacking(name: str, amount: int, jobs: Workload, nodes: Sequence[Node]) -> Note:
    """Return a note on a request above the existing amount of a resource."""
    asked = getattr(jobs, name)
    job = jobs.job[int(asked.argmax())]
    effect = f"job {job} requests {asked.max()}, and there are {amount}; jobs wait less"
    return Note(f"the {STOCKS[name].word} of nodes", _source(name, nodes), effect)
