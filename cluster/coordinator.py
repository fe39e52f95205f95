"""A coordinator, or an array of parts, as a batch job: script and submission."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Sequence
from inspect import signature
from typing import Any

from schedfarm.cluster.errors import ClusterError
from schedfarm.cluster.jobs import one_line, with_defaults
from schedfarm.cluster.launchers import imported
from schedfarm.cluster.opening import Opening
from schedfarm.cluster.queues import Queue, check_command, walltime_of
from schedfarm.cluster.spec import ClusterSpec
from schedfarm.cluster.walltime import COORDINATOR_SECONDS

SIZE = {"cores": 1, "processes": 1, "memory": "4 GB"}
"""Resources of the job: a coordinator with its scheduler uses one core and constant memory."""

WORKERS_ONLY = ("worker_extra_args", "worker_command", "local_directory", "death_timeout")
"""Options of workers that do not apply to a coordinator."""


class Coordinator:
    """Describe the batch job of a coordinator, or the batch jobs of an array.

    Parameters
    ----------
    spec : ClusterSpec
        A launcher with a batch system. Its `coordinator` has the options that differ from those of
        the workers' jobs.
    opening : Opening
        Folder of the output, and title of the job.
    array : int
        Number of parts, each in a job with one core and the workers' other options; 0 for the job
        of a coordinator.

    Raises
    ------
    ClusterError
        If the launcher has no batch system or no arrays, or refuses the options.
    """

    def __init__(self, spec: ClusterSpec, opening: Opening, array: int = 0) -> None:
        if spec.launcher.queue is None:
            raise ClusterError(
                f"{spec.name} has no batch system to submit to; choose one, such as --on slurm, or "
                "use farm run"
            )
        if array and not spec.launcher.queue.array:
            raise ClusterError(
                f"{spec.kind}: farm submit has no arrays for it; submit farm run --part K/N with a "
                "script of your own"
            )
        spec.launcher.check_package(spec.kind)
        self._array, self._name = array, "array" if array else "coordinator"
        self._kind, self._queue = spec.kind, spec.launcher.queue
        shared = {key: value for key, value in spec.options.items() if key not in WORKERS_ONLY}
        own = _of_array(self._queue, spec, array) if array else {**SIZE, **spec.coordinator}
        options = with_defaults(spec.kind, self._queue, {**shared, **own}, opening)
        self._memory = options.get("memory", "the configured memory")
        job_class = imported(f"dask_jobqueue:{self._queue.cluster}").job_cls
        self.walltime = walltime_of(self._queue, options)
        self._folder = opening.folder
        self._job = _job(job_class, opening.title, options, spec.kind)

    @property
    def _prefix(self) -> str:
        return "" if self._array else "coordinator."

    @property
    def lasts(self) -> int | None:
        """Time after which the coordinator must stop, s; None without a walltime."""
        if self.walltime is None:
            return None
        return max(COORDINATOR_SECONDS, self.walltime - COORDINATOR_SECONDS)

    def script(self, command: Sequence[str]) -> str:
        """Return the script of a job that replaces its shell by a command."""
        line = f"exec {shlex.join(command)}"
        if self._array:
            line += f' --part "${self._queue.index}/{self._array}"'
        if self._queue.inline:
            line = "; ".join([*self._job._job_script_prologue, line])
        self._job._command_template = line
        return str(self._job.job_script())

    def submit(self, command: Sequence[str]) -> str:
        """Submit the job, and return its id."""
        check_command(self._kind, shlex.split(self._job.submit_command)[0])
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{self._name}.sh"
        path.write_text(self.script(command))
        try:
            said = asyncio.run(self._job._submit_job(str(path)))
            return str(self._job._job_id_from_submit_output(said))
        except (RuntimeError, ValueError, OSError) as error:
            raise ClusterError(
                f"{self._kind} did not accept the {self._name}'s job, with {self._memory}: "
                f"{one_line(error)}; --option {self._prefix}memory=2GB requests less"
            ) from None


def _of_array(queue: Queue, spec: ClusterSpec, count: int) -> dict[str, Any]:
    """Return the options of an array's jobs that differ from those of workers' jobs."""
    import dask

    option = "job_extra_directives"
    key = f"jobqueue.{spec.kind}.{option.replace('_', '-')}"
    given = spec.options.get(option) or dask.config.get(key, None) or []
    # The workers' directives forbid the batch system to restart a lost job.
    kept = [one for one in given if one not in queue.defaults.get(option, [])]
    directives = [one.format(count=count) for one in queue.array]
    return {"cores": 1, "processes": 1, option: [*kept, *directives]}


def _job(job_class: Any, title: str, options: dict[str, Any], kind: str) -> Any:
    takes = {*signature(imported("dask_jobqueue.core:Job.__init__")).parameters}
    takes |= {*signature(job_class.__init__).parameters}
    mine = {key: value for key, value in options.items() if key in takes}
    try:
        return job_class("none", name=title, **mine)
    except (ValueError, TypeError, OSError) as error:
        raise ClusterError(f"{kind}: {one_line(error)}") from None
