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

    unasked: jobs whose requests are not in the log, and the source of that; None if all are.
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
"""By the column of jobs' requests."""


def stocks_of(
    jobs: Workload, nodes: Sequence[Node], conf: Conf
) -> tuple[dict[str, Fact[int]], list[Note]]:
    """Return the capacities of resources that may delay a job, and notes on others.

    While each job requests at most its processors' part of a resource, processors run out first.
    """
    found: dict[str, Fact[int]] = {}
    notes: list[Note] = []
    processors = sum(node.cpus for node in nodes)
    for name in _consumed(conf):
        stock, asked = STOCKS[name], getattr(jobs, name)
        amount = sum(map(stock.of, nodes))
        source = f"{SINFO}: {stock.word} of {counted(len(nodes), 'node')}"
        most, unasked = int(asked.max()), stock.unasked(jobs, conf) if amount else None
        if unasked:
            effect = "the log has no request, so that they wait less"
            notes.append(Note(f"the {stock.word} of {unasked[0]}", unasked[1], effect))
        if most > amount:
            job = jobs.job[int(asked.argmax())]
            what = f"the {stock.word} of nodes"
            effect = f"job {job} requests {most}, and there are {amount}; jobs wait less"
            notes.append(Note(what, source, effect))
        elif (asked / jobs.procs).max() * processors > amount:
            found[name] = Fact(amount, source)
    if found:
        words = " and ".join(STOCKS[name].word for name in found)
        effect = "the machine has one stock, so that a job that no single node could hold starts"
        notes.append(Note(f"the {words} of each node", SINFO, effect))
    return found, notes


def _consumed(conf: Conf) -> Iterator[str]:
    """Yield the resources that Slurm allocates to jobs."""
    yield "gpus"
    linear = conf.get("SelectType", "select/cons_tres").value.lower() == "select/linear"
    default = "none" if linear else "CR_Core_Memory"
    if "memory" in conf.get("SelectTypeParameters", default).value.lower():
        yield "memory"
