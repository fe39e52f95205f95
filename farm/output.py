"""Output files: complete or not written at all, never over inputs or into stores; - is stdout."""

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
"""Path that means standard output."""


@dataclass(frozen=True)
class Output:
    """Hold a checked destination for output.

    Attributes
    ----------
    option : str
        Option that names it on the command line, such as ``--csv``.
    name : str
        The file in the spelling of the command line.
    path : Path
        The file with links resolved; `-` for standard output.
    """

    option: str
    name: str
    path: Path

    @property
    def standard(self) -> bool:
        """Whether the output is standard output; other messages then go to standard error."""
        return str(self.path) == STANDARD

    @contextmanager
    def made(self, kind: str = "") -> Iterator[Path]:
        """Yield a temporary path that becomes the file at the end, unless an error is raised.

        The path has the file's own name, in a folder next to the file, so that the last step is a
        rename. A pipe or device is written to at the end. `kind` is the suffix, such as ``.png``,
        of an output without a name.
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
        """Write the whole content."""
        with self.made() as part:
            part.write_bytes(data)

    def _refused(self, error: OSError) -> InputError:
        return _refusal(self.option, self.name, error)


def output(
    option: str, path: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str]] = ()
) -> Output:
    """Check a destination before anything is computed; refuse inputs, stores, and folders.

    An existing file is replaced; `-` is standard output. Missing `inputs` are ignored.

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
    """Refuse two outputs with the same destination.

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
            raise InputError(f"{given}: it is an input, and would be lost; give another file")
    for folder in target.parents:
        if _is_store(folder):
            raise InputError(f"{given}: it lies in store {folder}; give a file outside of it")
    with suppress(FileNotFoundError):
        os.lstat(target)  # refuses a name that is too long
    if _is_file(target):
        # Permissions do not suffice: the file system may be read-only.
        with tempfile.TemporaryDirectory(prefix=".farm-", dir=target.parent):
            pass
    return target


def _is_file(path: Path) -> bool:
    """Return whether a path is a file or does not exist; pipes and devices are not files."""
    return path.is_file() or not path.exists()


def _is_store(folder: Path) -> bool:
    described = any((folder / name).is_file() for name in (MANIFEST, COPY))
    return described and (folder / "results.zarr").is_dir()
