"""One door for logs of every format that there is a reader for."""

from __future__ import annotations

import contextlib
import os
import zlib
from itertools import chain
from typing import TYPE_CHECKING, Any

from schedfarm.core.errors import InputError
from schedfarm.core.logs.clean import AS_HERE, Clean
from schedfarm.core.logs.formats import FORMATS
from schedfarm.core.logs.packed import check_is_file
from schedfarm.core.machines.platform import Platform
from schedfarm.core.own import load
from schedfarm.core.workload.workload import Workload

if TYPE_CHECKING:
    from schedfarm.core.logs.schedules import LoggedSchedule

_PEEK = 2**16
_GZIP_WINDOW = 31


def read_log(
    path: str | os.PathLike[str],
    *,
    processors: int | None = None,
    platform: Platform | None = None,
    rows: tuple[int, int] | None = None,
    jobs: int | None = None,
    clean: Clean = AS_HERE,
) -> Workload:
    r"""Read a log of any format in `core.logs.formats.FORMATS`, plain or gzip.

    See `format_of` for how the format is found, and the format's reader for what it makes of a row.

    Parameters
    ----------
    path : path
        The log.
    processors : int, optional
        Size of the machine; by default what the header of an SWF log says. The others need it,
        but for one that has its machine beside it.
    platform : Platform, optional
        The machine, instead of that: it stands for one of its kind that is beside the log; of any
        other log its size counts.
    rows : (int, int), optional
        Only these data rows, [first, last), before anything is dropped or sorted.
    jobs : int, optional
        Only the first jobs by (submit, position) of those that can be simulated.
    clean : Clean
        Which processors, estimates and run times count.

    Returns
    -------
    Workload
        The jobs, sorted by (submit, position).

    Raises
    ------
    InputError
        As the format's reader.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "one.txt"
    ...     _ = path.write_text("; MaxProcs: 4\n1 0 -1 10 2" + 13 * " -1")
    ...     len(read_log(path))
    1
    """
    known, given = FORMATS[format_of(path)], {"rows": rows, "jobs": jobs, "clean": clean}
    if known.beside is not None:
        same = platform is not None and platform.name == known.beside.platform
        machine = platform if same else None
        return known.reader(path, processors=processors, platform=machine, **given)
    size = processors if platform is None else platform.size
    return known.reader(path, processors=size, **given)


def read_schedule(
    path: str | os.PathLike[str], processors: int | None = None, clean: Clean = AS_HERE
) -> LoggedSchedule:
    """Read the schedule that a log tells, of any format that can.

    Parameters
    ----------
    path, processors, clean
        As for `read_log`.

    Returns
    -------
    LoggedSchedule
        The jobs that can be placed, in (submit, position) order; its policy's name is empty.

    Raises
    ------
    InputError
        As the format's reader; a file of a format that tells no schedules is taken for SWF.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from schedfarm.core import Workload, simulate, write_swf
    >>> w = Workload.from_columns(submit=[0, 1], run=[5, 5], estimate=[6, 6], procs=[2, 2],
    ...                           processors=3)
    >>> with TemporaryDirectory() as folder:
    ...     write_swf(w, folder + "/two.swf", simulate(w, "fcfs+easy"))
    ...     read_schedule(folder + "/two.swf").start.tolist()
    [0, 5]
    """
    reference = FORMATS[format_of(path)].schedules or next(iter(FORMATS.values())).schedules
    reader: Any = load(reference)
    found: LoggedSchedule = reader(path, processors, clean)
    return found


def format_of(path: str | os.PathLike[str]) -> str:
    """Tell the format of a log: by its first line, else by its name, else by its first row.

    Parameters
    ----------
    path : path
        The log, plain or gzip.

    Returns
    -------
    str
        A key of `core.logs.formats.FORMATS`. A first line with ``;`` first is SWF, with ``#``
        first GWF, one that names a column JobID between ``|`` sacct. Where it is none of them,
        the name's end ``.swf``, ``.gwf`` or ``.sacct``, with or without ``.gz``, decides; then
        how many fields a row has, and else it is SWF.

    Raises
    ------
    InputError
        If the file cannot be read.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "log.txt"
    ...     _ = path.write_text("JobID|User")
    ...     format_of(path)
    'sacct'
    """
    source = os.fspath(path)
    first = next((line for line in _first_lines(source) if line.strip()), "").strip()
    file, words = source.lower().removesuffix(".gz"), len(first.split())
    opened = (name for name, known in FORMATS.items() if known.opens(first))
    named = (name for name, known in FORMATS.items() if file.endswith(known.ends))
    shaped = (name for name, known in FORMATS.items() if known.fields == words)
    return next(chain(opened, named, shaped, FORMATS))


def _first_lines(source: str) -> list[str]:
    check_is_file(source)
    try:
        with open(source, "rb") as file:
            begin = file.read(_PEEK)
    except OSError as error:
        raise InputError(f"{source}: cannot read the log ({error.strerror})") from None
    # An error means plain text, or damaged data of which the format's reader will say so.
    with contextlib.suppress(zlib.error):
        begin = zlib.decompressobj(_GZIP_WINDOW).decompress(begin, _PEEK)
    return begin.decode("utf-8-sig", errors="replace").splitlines()
