"""A cluster whose workers are jobs of a batch system, started by dask-jobqueue."""

from __future__ import annotations

import asyncio
import logging
import math
import shlex
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from schedfarm.cluster.certificates import security
from schedfarm.cluster.errors import ClusterError
from schedfarm.cluster.launchers import imported
from schedfarm.cluster.opening import Opening, lift_file_limit, quiet
from schedfarm.cluster.queues import (
    GONE,
    QUEUES,
    Queue,
    check_command,
    is_over,
    states,
    walltime_of,
)
from schedfarm.cluster.scratch import SHELL
from schedfarm.cluster.settings import (
    CLOSE_HTTP,
    HEAP,
    JOBS,
    SAFE_PATH,
    UNWATCHED,
    WORKERS,
    exports,
    unset,
)
from schedfarm.cluster.spec import ClusterSpec
from schedfarm.cluster.walltime import ending

if TYPE_CHECKING:
    from distributed import Client

LOOPBACK = "127.0.0.1"

WORKER_COUNT = 1
"""Default number of workers."""

MEMORY_A_CORE = 2_000_000_000
"""Default memory of a job per core, bytes; a cell of the archive's largest log needs less than half
of this."""

SUBMIT_SECONDS = 60.0
"""Longest wait for the batch system to accept the first job, s."""

SWEEP_SECONDS = 15.0
"""Interval between checks for jobs without a worker, s; each queries the batch system once."""

LOOK_SECONDS = 1.0
"""Interval between checks of the jobs that have workers, s."""

FAILED_SWEEPS = 4
"""Number of checks, within a minute, after which a failed submission is repeated."""

CHATTY = ("distributed.deploy.adaptive", "distributed.deploy.adaptive_core")
"""Loggers whose tracebacks duplicate messages of `Opening.say`."""


@contextmanager
def jobs_cluster(spec: ClusterSpec, opening: Opening) -> Iterator[Client]:
    """Submit jobs whose workers connect to a scheduler in this process, and yield a client.

    Lost jobs are replaced, so that the number of pending and running jobs stays that of the spec.
    All jobs are cancelled at the end.
    """
    import dask
    from distributed import Client

    settings = {**JOBS, **({} if opening.watched else UNWATCHED)}
    if not opening.watched:
        settings["distributed.scheduler.preload"] = [CLOSE_HTTP]
    lift_file_limit()
    with ExitStack() as stack:
        kept = Kept(spec, opening)
        stack.enter_context(quiet(CHATTY))
        with dask.config.set(unset(settings)):
            cluster = stack.enter_context(kept.cluster())
        kept.fill(cluster)
        yield stack.enter_context(Client(cluster))


class Kept:
    """Keep the number of submitted jobs constant."""

    def __init__(self, spec: ClusterSpec, opening: Opening) -> None:
        spec.launcher.check_package(spec.kind)
        assert spec.launcher.queue
        self._spec, self._opening, self._queue = spec, opening, spec.launcher.queue
        self._kind = imported(f"dask_jobqueue:{self._queue.cluster}")
        check_command(spec.kind, self._kind.job_cls.submit_command)
        self._submitted: list[str] = []
        self._refused = ""
        self._arrived: set[Any] = set()
        self._failures: dict[Any, int] = {}

    def cluster(self) -> Any:
        """Return the cluster, which has no job yet."""
        options = job_options(self._spec, self._opening)
        self._opening.folder.mkdir(parents=True, exist_ok=True)
        self._processes = options["processes"]
        scheduler = {"dashboard_address": f"{LOOPBACK}:0", **options.pop("scheduler_options", {})}
        options.setdefault("shared_temp_directory", str(self._opening.folder.absolute()))
        try:
            return self._kind(
                job_cls=reporting(self._kind.job_cls, self._took, self._refuse),
                security=security(self._spec.folder),
                protocol="tls://",
                scheduler_options=scheduler,
                silence_logs=logging.CRITICAL,
                **options,
            )
        except (ValueError, TypeError, OSError, RuntimeError) as error:
            raise ClusterError(f"{self._spec.kind}: {one_line(error)}") from None

    def fill(self, cluster: Any) -> None:
        """Submit the first job, then the other jobs; replace lost jobs."""
        cluster.scale(jobs=1)
        end = time.monotonic() + SUBMIT_SECONDS
        while not (self._submitted or self._refused) and time.monotonic() < end:
            time.sleep(0.05)
        if not self._submitted:
            why = self._refused or f"there was no response for {SUBMIT_SECONDS:.0f} s"
            raise ClusterError(f"{self._spec.kind} did not accept a job: {why}")
        most = math.ceil((self._spec.workers or WORKER_COUNT) / self._processes)
        least = math.ceil((self._spec.minimum or most * self._processes) / self._processes)
        cluster.adapt(minimum_jobs=least, maximum_jobs=most)
        cluster.loop.add_callback(self._sweep, cluster)

    def _took(self, job: str) -> None:
        self._submitted.append(job)
        self._refused = ""
        self._opening.note(job)

    def _refuse(self, why: str) -> None:
        if self._submitted and why != self._refused:
            self._opening.say(f"{self._spec.kind} did not accept a job: {why}; tried again")
        self._refused = why

    async def _sweep(self, cluster: Any) -> None:
        """Drop jobs whose end Dask has not noticed, so that Dask submits new ones."""
        swept = time.monotonic()
        while cluster.status.name == "running":
            await asyncio.sleep(LOOK_SECONDS)
            there = {str(one["name"]) for one in cluster.scheduler_info["workers"].values()}
            without = {
                name: job
                for name, job in list(cluster.workers.items())
                if not any(worker in there for worker in names(cluster, name))
            }
            self._arrived |= cluster.workers.keys() - without.keys()
            if time.monotonic() - swept < SWEEP_SECONDS:
                continue
            swept = time.monotonic()
            ids = [job.job_id for job in without.values() if job.job_id]
            found = await asyncio.to_thread(states, self._queue, ids) if ids else {}
            for name, job in without.items():
                if found is not None and self._has_ended(name, job, found):
                    cluster.workers.pop(name, None)
                    self._arrived.discard(name)
                    await job.close()

    def _has_ended(self, name: Any, job: Any, found: Mapping[str, str]) -> bool:
        """Return whether to replace a job without worker; report jobs that never had a worker."""
        if not job.job_id:
            self._failures[name] = self._failures.get(name, 0) + 1
            return self._failures[name] % FAILED_SWEEPS == 0
        state = found.get(job.job_id, GONE)
        if not is_over(self._queue, state):
            return False
        if name not in self._arrived:
            self._opening.say(
                f"job {job.job_id} ended ({state}) before its worker connected; its output is "
                f"in {self._opening.folder}; another is submitted"
            )
        return True


def cancel_command(kind: str) -> list[str]:
    """Return the batch system's command that cancels jobs; the ids are to be appended."""
    return shlex.split(imported(f"dask_jobqueue:{QUEUES[kind].cluster}").job_cls.cancel_command)


def names(cluster: Any, name: Any) -> list[str]:
    """Return the names of a job's workers."""
    group = cluster.worker_spec.get(name, {}).get("group", [""])
    return [f"{name}{suffix}" for suffix in group]


def reporting(kind: Any, took: Any, refuse: Any) -> Any:
    """Return a job class that reports the id of a job, or the reason for a failed submission."""
    from distributed.core import Status

    class Reporting(kind):  # type: ignore[misc]
        async def start(self) -> None:
            try:
                await super().start()
                took(str(self.job_id))
            except (RuntimeError, ValueError, OSError) as error:
                refuse(one_line(error))
                self.status = Status.running

        async def close(self) -> None:
            await super().close()
            self.status = Status.closed

    return Reporting


def one_line(error: BaseException) -> str:
    """Return the message of a batch command in an error of dask-jobqueue."""
    text = str(error)
    said = text.partition("stderr:\n")[2].strip() or text
    return "; ".join(line.strip() for line in said.splitlines() if line.strip())


def job_options(spec: ClusterSpec, opening: Opening) -> dict[str, Any]:
    """Return a worker job's options: the spec's, then Dask's configuration, then defaults."""
    assert spec.launcher.queue
    options = with_defaults(spec.kind, spec.launcher.queue, spec.options, opening)
    prologue = [*SHELL, *options["job_script_prologue"]]
    extra = list(options["worker_extra_args"])
    prologue += exports(unset({**WORKERS, **({} if opening.watched else UNWATCHED)}))
    prologue += [f"export {name}={size}" for name, size in HEAP.items()]
    # Other users may be able to write to the folder from which a job was submitted.
    prologue.append(f"export {SAFE_PATH}=1")
    if not opening.watched:
        extra += ["--no-dashboard", "--preload", CLOSE_HTTP]
    seconds = walltime_of(spec.launcher.queue, options)
    if seconds and "--lifetime" not in extra:
        lines, words = ending(seconds)
        prologue += lines
        extra += words
    return {**options, "job_script_prologue": prologue, "worker_extra_args": extra}


def with_defaults(
    kind: str, queue: Queue, given: Mapping[str, Any], opening: Opening
) -> dict[str, Any]:
    """Return a job's options; options in neither spec nor Dask's configuration have defaults."""
    import dask

    def known(option: str) -> Any:
        key = f"jobqueue.{kind}.{option.replace('_', '-')}"
        return given.get(option, dask.config.get(key, None))

    cores = known("cores") or 1
    ours = {
        **queue.defaults,
        "cores": cores,
        # One process per core, since uncompiled code holds Python's global interpreter lock.
        "processes": cores,
        "memory": f"{cores * MEMORY_A_CORE}B",
        "log_directory": str(opening.folder.absolute()),
        "job_name": opening.title,
    }
    options = {key: value for key, value in ours.items() if known(key) in (None, [])}
    always = ("cores", "processes", "job_script_prologue", "worker_extra_args", "walltime")
    options |= {key: known(key) for key in always if known(key) is not None}
    return {**options, **given}
