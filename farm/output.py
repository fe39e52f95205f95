"""Where a command writes: a whole file or none, over no input, into no store; - is stdout."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from schedfarm.core.errors import InputError
from schedfarm.core.files import sync
from schedfarm.core.format.names import COPY, MANIFEST

STANDARD = "-"
"""Stands for standard output."""


@dataclass(frozen=True)
class Output:
    """Name where an answer goes, after it has been found that it can go there.

    Parameters
    ----------
    option : str
        What names it on the command line, such as ``--csv``.
    name : str
        The file as it was given.
    path : Path
        The file itself, links followed; `-` for standard output.
    """

    option: str
    name: str
    path: Path

    @property
    def standard(self) -> bool:
        """Whether it is standard output: whatever else a command says then goes to stderr."""
        return str(self.path) == STANDARD

    @contextmanager
    def made(self, kind: str = "") -> Iterator[Path]:
        """Yield where to write; what stands there at the end becomes the file, unless one raises.

        The name is the file's own, in a folder of its own beside it, so that the last step is a
        rename. What is no file, such as a pipe, is written to at the end.

        Parameters
        ----------
        kind : str
            End of the name where the output has none, such as ``.png``.

        Raises
        ------
        InputError
            If the operating system refuses.
        """
        direct = self.standard or not _is_file(self.path)
        try:
            beside = None if direct else self.path.parent
            with tempfile.TemporaryDirectory(prefix=".farm-", dir=beside) as folder:
                part = Path(folder, f"out{kind}" if direct else self.path.name)
                yield part
                if self.standard:
                    sys.stdout.buffer.write(part.read_bytes())
                    sys.stdout.buffer.flush()
                elif direct:
                    self.path.write_bytes(part.read_bytes())
                else:
                    sync(part)
                    part.replace(self.path)
                    sync(self.path.parent)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise self._refused(error) from None

    def write(self, data: bytes) -> None:
        """Write the whole content.

        Raises
        ------
        InputError
            As `made`.
        """
        with self.made() as part:
            part.write_bytes(data)

    def _refused(self, error: OSError) -> InputError:
        return _refusal(self.option, self.name, error)


def output(
    option: str, path: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str]] = ()
) -> Output:
    """Return where to write, if that destroys nothing; asked before anything is computed.

    Parameters
    ----------
    option : str
        What names it on the command line, such as ``--csv``.
    path : path
        The file; an existing one is replaced. `-` is standard output.
    inputs : iterable of path
        Files that the command reads; those that are not there are passed over.

    Returns
    -------
    Output
        Ready to be written.

    Raises
    ------
    InputError
        If it is one of the inputs, lies in a store, is a folder, or cannot be made.

    Examples
    --------
    >>> output("--csv", "-").standard
    True
    >>> output("--csv", "no such folder/waits.csv")
    Traceback (most recent call last):
    schedfarm.core.errors.InputError: --csv no such folder/waits.csv: there is no folder no such
    folder; \
make it, or give a file in another
    """
    text = os.fspath(path)
    if text == STANDARD:
        return Output(option, text, Path(text))
    try:
        return Output(option, text, _checked(f"{option} {text or repr(text)}", text, inputs))
    except OSError as error:
        raise _refusal(option, text, error) from None


def output_once(*outputs: Output | None) -> None:
    """Refuse to write two things to one place.

    Raises
    ------
    InputError
        Naming both options.

    Examples
    --------
    >>> output_once(output("--csv", "-"), output("--plot", "-"))
    Traceback (most recent call last):
    schedfarm.core.errors.InputError: --csv - and --plot -: one would replace the other; give two
    files
    """
    there: dict[Path, Output] = {}
    for one in filter(None, outputs):
        if one.path in there:
            other = there[one.path]
            raise InputError(
                f"{other.option} {other.name} and {one.option} {one.name}: one would replace the "
                "other; give two files"
            )
        there[one.path] = one


def _refusal(option: str, name: str, error: OSError) -> InputError:
    why = error.strerror or str(error)
    return InputError(f"{option} {name}: cannot be written ({why}); give a file elsewhere")


def _checked(given: str, text: str, inputs: Iterable[str | os.PathLike[str]]) -> Path:
    if not text or os.path.isdir(text):
        what = "is a folder" if text else "names no file"
        raise InputError(f"{given}: {what}; give a file, or - for standard output")
    target, parent = Path(text).resolve(), Path(text).parent
    if not os.path.isdir(parent):
        raise InputError(
            f"{given}: there is no folder {parent}; make it, or give a file in another"
        )
    for read in inputs:
        if os.path.exists(text) and os.path.exists(read) and os.path.samefile(text, read):
            raise InputError(f"{given}: it is read from, and would be lost; give another file")
    for folder in target.parents:
        if _is_store(folder):
            raise InputError(f"{given}: it lies in store {folder}; give a file outside of it")
    with suppress(FileNotFoundError):
        os.lstat(target)  # refuses a name that is too long
    if _is_file(target):
        # Permissions alone do not say all: the file system may be read-only.
        with tempfile.TemporaryDirectory(prefix=".farm-", dir=target.parent):
            pass
    return target


def _is_file(path: Path) -> bool:
    """Tell whether a path is that of a file, or free; a pipe or a device is neither."""
    return path.is_file() or not path.exists()


def _is_store(folder: Path) -> bool:
    described = any((folder / name).is_file() for name in (MANIFEST, COPY))
    return described and (folder / "results.zarr").is_dir()
