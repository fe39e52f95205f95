"""Sources of a trace's jobs: a log, a model, or a join of several logs; one row each."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from schedfarm.core.arrays import MOST_WEEKS
from schedfarm.core.errors import InputError, SizeUnknown
from schedfarm.core.logs.clean import Clean
from schedfarm.core.logs.field_map import field_map, map_beside, map_table
from schedfarm.core.logs.formats import FORMATS
from schedfarm.core.logs.machine import END
from schedfarm.core.logs.read import format_of, read_log
from schedfarm.core.logs.rows import log_name
from schedfarm.core.machines.platform import Platform
from schedfarm.core.machines.pool.platform import Pool
from schedfarm.core.models import MODELS
from schedfarm.core.names import choices
from schedfarm.core.workload.on_network import OnNetwork, join_logs
from schedfarm.core.workload.resample_weeks import WEEK, span_weeks
from schedfarm.core.workload.select import check_criteria, on_platform, select, select_jobs
from schedfarm.core.workload.workload import Workload
from schedfarm.farm.campaign.machine import MACHINE
from schedfarm.farm.campaign.plain import Exclusion, check_exclusions, put
from schedfarm.farm.logs import registry
from schedfarm.farm.logs.fetch import locate

if TYPE_CHECKING:
    from schedfarm.farm.campaign.trace import Trace


class LogSource:
    """A log: a file, or a name in the registry."""

    def take(self, trace: Trace) -> None:
        """Keep the full name of the log, and the table of its map."""
        if trace.log is not None:
            entry = registry.find(trace.log)
            put(trace, log=entry.name if entry else log_name(trace.log))
        if trace.rows is not None and not 0 <= trace.rows[0] < trace.rows[1]:
            raise InputError(
                f"rows is {list(trace.rows)}; it must be [first, last), such as [0, 5000]"
            )
        if trace.map is not None:
            if isinstance(trace.map, str) and trace.map.endswith(END):
                put(trace, map=map_table(trace.map))
            field_map(trace.map, "map")

    def located(self, trace: Trace, folder: Path | None) -> Trace:
        """Return the trace with the file of its log, fetched if necessary."""
        if trace.log is None or trace.file is not None:
            return trace
        return replace(trace, file=str(locate(trace.log, folder)))

    def read(self, trace: Trace) -> Workload:
        """Return the selected jobs on the machine of the trace."""
        entry, machine = registry.find(trace.log) if trace.log else None, trace.machine
        size = machine.size if machine else entry.processors if entry else None
        path = trace.located().file or ""
        with trace.named_errors():
            _check_origins(trace, path)
        how: dict[str, Any] = {
            "rows": trace.rows,
            "clean": Clean.from_dict(trace.clean),
            "columns": trace.map,
        }
        if not trace.select and (machine is None or machine == Pool(machine.size)):
            jobs = read_log(path, processors=size, jobs=trace.jobs, **how)
        else:
            size = size if machine is None else None
            log = read_log(path, processors=size, platform=machine, **how)
            jobs = select(log if machine is None else on_platform(log, machine), **trace.select)
            jobs = jobs if trace.jobs is None else select_jobs(jobs, trace.jobs)
        return trace.placed(_of_a_century(jobs))

    def acknowledgement(self, trace: Trace) -> str:
        """Return the acknowledgement of the registry, the map, or the header of the log."""
        if trace.log and (entry := registry.find(trace.log)):
            return entry.acknowledge
        path, fields = trace.located().file or "", None
        if trace.map is not None:
            fields = field_map(trace.map, "map")
        elif os.path.isfile(path) and FORMATS[format_of(path)].maps:
            fields = map_beside(path)
        declared = fields.about.get("acknowledge", "") if fields else ""
        return declared or registry.acknowledgement(path)


def _check_origins(trace: Trace, path: str) -> None:
    """Refuse a network if the origins of its jobs are declared nowhere, or twice."""
    machine = trace.machine
    if machine is None or not machine.participants:
        return
    sidecar = FORMATS[format_of(path, mapped=None if trace.map is None else True)].sidecar
    declared = sidecar is not None and sidecar.platform == machine.name
    if declared and trace.network is not None:
        raise InputError(
            f"{path} gives the origin and the link requests of each job; leave 'network' out"
        )
    if not declared and trace.network is None:
        raise InputError(
            f"{path} gives neither origins nor link requests of jobs; give them in a table "
            "'network', for example with origin = 'partition'; without a key all jobs come from "
            "the first cluster"
        )


def _of_a_century(log: Workload) -> Workload:
    """Refuse a log longer than a century: one of its times must be wrong."""
    if span_weeks(log) <= MOST_WEEKS:
        return log
    after = int(np.argmax(np.diff(log.submit)))
    years = int(log.submit[after + 1] - log.submit[after]) / (WEEK * MOST_WEEKS / 100)
    raise InputError(
        f"log {log.name!r}: job {log.job[after + 1]} is submitted at {log.submit[after + 1]} s, "
        f"{years:,.0f} years after its predecessor, and a log lasts at most a century; leave out "
        "wrong rows, or check the units of its times"
    )


class ModelSource:
    """A model, which draws jobs for each resample and has no log."""

    def take(self, trace: Trace) -> None:
        """Refuse an unknown model, and a machine or parameters that it does not support."""
        name, machine = trace.model or "", trace.machine
        if name not in MODELS:
            raise InputError(f"unknown model {name!r}; {choices(name, MODELS)}")
        if machine is None or (trace.jobs is None) == (trace.weeks is None):
            raise InputError(
                "a model needs 'processors' or 'platform', and either 'jobs' or 'weeks'"
            )
        if "partition" in machine.asks:
            raise InputError(
                f"model {name!r} draws jobs without a partition; leave the partitions of the "
                "platform out"
            )
        if machine.participants and not MODELS[name].clusters:
            known = " or ".join(repr(name) for name, row in MODELS.items() if row.clusters)
            raise InputError(
                f"model {name!r} draws the jobs of one pool, and on a platform of kind "
                f"{machine.name!r} each cluster has its own; give model = {known}"
            )
        if trace.resize is not None and trace.resize < machine.size:
            raise InputError(
                f"resize is {trace.resize}, and model {name!r} draws jobs of up to {machine.size} "
                "processors; give at least that, or a smaller 'processors'"
            )
        _check_parameters(name, trace.parameters)

    def located(self, trace: Trace, folder: Path | None) -> Trace:
        """Return the trace itself."""
        return trace

    def read(self, trace: Trace) -> None:
        """Return no log."""

    def acknowledgement(self, trace: Trace) -> str:
        """Return no acknowledgement."""
        return ""

    def draw(self, trace: Trace, seed: int, index: int) -> Workload:
        """Return the jobs of a resample on the machine of the trace."""
        model, machine = MODELS[trace.model or ""], _machine(trace)
        how = {"jobs": trace.jobs, "weeks": trace.weeks, "seed": seed, "index": index}
        with trace.named_errors():
            jobs = model.draw(machine, **how, **trace.parameters)
        return trace.placed(on_platform(jobs, machine))

    def users(self, trace: Trace) -> Iterable[int]:
        """Return the user numbers that can occur in the resamples."""
        return MODELS[trace.model or ""].users(_machine(trace), trace.parameters)


def _machine(trace: Trace) -> Platform:
    assert trace.machine is not None, "a trace of a model has a machine"
    return trace.machine


def _check_parameters(name: str, parameters: Mapping[str, Any]) -> None:
    known, each = MODELS[name].parameters, MODELS[name].each
    for key, value in parameters.items():
        if not isinstance(value, (str, int, float, *([list] if key in each else []))):
            several = ", or a list of one number for each cluster" if key in each else ""
            raise InputError(f"{key}={value!r}; it must be a number or a name{several}")
        if key not in known:
            raise InputError(f"unknown parameter {key!r} of model {name!r}; {choices(key, known)}")


class JoinSource:
    """Several logs, each of which is a cluster of a network."""

    def take(self, trace: Trace) -> None:
        """Keep the full names of the logs, and the table `network` with its defaults."""
        logs = tuple(map(registry.full_name, trace.join or ()))
        names = [registry.short_name(log) for log in logs]
        how = OnNetwork.from_dict(trace.network or {})
        # The sizes of the clusters are in the logs, which are read later.
        how.network([1] * len(names), names)
        put(trace, join=logs, network=how.to_dict())

    def located(self, trace: Trace, folder: Path | None) -> Trace:
        """Return the trace with the files of its logs, in the order of the logs."""
        if trace.found:
            return trace
        files = (part.located(folder).file or "" for part in self.parts(trace))
        return replace(trace, found=tuple(files))

    def read(self, trace: Trace) -> Workload:
        """Return the jobs of all logs on the network of their clusters."""
        names = [registry.short_name(log) for log in trace.join or ()]
        with trace.named_errors():
            try:
                logs = [log for part in self.parts(trace) if (log := part.read()) is not None]
            except SizeUnknown as error:
                # 'processors' is not for logs that are joined.
                raise InputError(error.of_log) from None
            jobs = join_logs(logs, names, OnNetwork.from_dict(trace.network or {}))
        return jobs if trace.jobs is None else select_jobs(jobs, trace.jobs)

    def acknowledgement(self, trace: Trace) -> str:
        """Return the different acknowledgements of the logs."""
        each = (part.acknowledgement() for part in self.parts(trace))
        return "; ".join(whom for whom in dict.fromkeys(each) if whom)

    def parts(self, trace: Trace) -> list[Trace]:
        """Return the traces of the single logs."""
        logs = trace.join or ()
        files = trace.found or [log if registry.is_path(log) else None for log in logs]
        names = [None if registry.is_path(log) else log for log in logs]
        return [
            replace(trace, join=None, network=None, jobs=None, found=(), log=name, file=file)
            for name, file in zip(names, files, strict=True)
        ]


Source = LogSource | ModelSource | JoinSource
LOG, MODEL, JOIN = LogSource(), ModelSource(), JoinSource()

SOURCES: Mapping[str, Source] = {"file": LOG, "log": LOG, "model": MODEL, "join": JOIN}
"""Source for each key that names a source. A trace has one source."""

_OF_LOGS = ("rows", "select", "clean", "names", "network", "resources", "partitions", "hosts")

EXCLUSIONS = (
    Exclusion("join", (*MACHINE, "rows"), "makes a cluster of each log", "; leave {other!r} out"),
    Exclusion(
        "map", ("model", "join"), "gives the columns of a log", "; give it with 'file' or 'log'"
    ),
    Exclusion("parameters", ("file", "log", "join"), "is for models only", ""),
    *(Exclusion(key, ("model",), "is for logs only", "") for key in _OF_LOGS),
)
"""Keys that some sources exclude."""


def source_of(trace: Trace) -> Source:
    """Return the source of a trace; refuse none and several."""
    found = {row for key, row in SOURCES.items() if getattr(trace, key) is not None}
    if len(found) != 1:
        *names, last = map(repr, SOURCES)
        raise InputError(f"give one of {', '.join(names)} and {last}")
    return found.pop()


def check_source(trace: Trace) -> None:
    """Refuse keys that the source excludes, and put `select` and `clean` into canonical form."""
    source_of(trace)
    put(trace, select=_criteria(trace.select), clean=Clean.from_dict(trace.clean).to_dict())
    check_exclusions(trace, EXCLUSIONS)


def _criteria(criteria: Mapping[str, Any]) -> dict[str, Any]:
    try:
        check_criteria(criteria)
    except InputError as error:
        raise InputError(f"select: {error}") from None
    plain = {key: list(v) if isinstance(v, tuple) else v for key, v in criteria.items()}
    if "dates" in plain:
        plain["dates"] = [str(day) for day in plain["dates"]]
    return plain


def in_folder(given: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return the keys of a trace with its relative paths resolved in the folder of a campaign."""
    file, columns, logs = (given.get(key) for key in ("file", "map", "join"))
    found: dict[str, Any] = {}
    if isinstance(file, str):
        found["file"] = _resolved("file is", file, folder)
    if isinstance(columns, str) and columns.endswith(END):
        found["map"] = _resolved("map is", columns, folder)
    if isinstance(logs, list):
        found["join"] = [
            _resolved("join holds", log, folder)
            if isinstance(log, str) and registry.is_path(log)
            else log
            for log in logs
        ]
    return {**given, **found}


def _resolved(what: str, path: str, folder: Path) -> str:
    if "\0" in path:
        raise InputError(f"{what} {path!r}; give the name of a file, without NUL")
    return str((folder / path).resolve())
