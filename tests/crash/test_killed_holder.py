"""The lock of a coordinator that was killed keeps no other out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from schedfarm.core import InputError
from schedfarm.core.format.names import LOCK
from schedfarm.farm.store.lock import locked

HOLD = """
import sys
from pathlib import Path
from schedfarm.farm.store.lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_lock_of_a_killed_holder_is_free(tmp_path: Path) -> None:
    """The file of a killed run stays; until its end, it names the process."""
    words = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(words, stdin=-1, stdout=-1, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        why = f"in use by process {holder.pid} on "
        with pytest.raises(InputError, match=why), locked(tmp_path):
            pass
        holder.kill()
    assert (tmp_path / LOCK).exists()
    with locked(tmp_path):
        pass
    assert not (tmp_path / LOCK).exists()
