"""Copies of logs without names: what is replaced, kept, moved and left out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from schedfarm.core import InputError, read_log
from schedfarm.core.logs.anonymise import anonymise
from tests.support.swf_texts import HEADER, row

SACCT = """\
JobID|JobIDRaw|JobName|User|UID|Account|Submit|Start|Elapsed|Timelimit|ReqCPUS|WorkDir|State
1|1|secret|ann|501|chem|2024-01-08T00:00:00|2024-01-08T00:01:00|01:00:00|02:00:00|4|/home/ann|COMPLETED
1.batch|1.batch|batch|||chem|2024-01-08T00:00:00|2024-01-08T00:01:00|01:00:00||4||COMPLETED
2|2|plain|bob|502|phys|2024-01-08T00:00:09|Unknown|00:00:00|02:00:00|4|/home/bob|CANCELLED by 502
3|3|secret|ann|501|phys|2024-01-08T00:00:10|2024-01-08T00:01:00|01:00:00|02:00:00|4|/|COMPLETED
"""


def test_names_of_sacct_are_replaced_consistently(tmp_path: Path) -> None:
    """Jobs stay equal up to names; a user who cancelled and unknown columns are not kept."""
    path = tmp_path / "site.sacct"
    path.write_text(SACCT)
    found = anonymise(path, weeks=-1)
    for word in ("ann", "bob", "501", "502", "chem", "phys", "secret", "home"):
        assert word not in found.text
    assert found.left_out == ["WorkDir"]
    assert found.replaced == {"JobName": 3, "User": 2, "UID": 2, "Account": 2}
    copy = tmp_path / "copy.sacct"
    copy.write_text(found.text)
    before, after = (read_log(one, processors=8) for one in (path, copy))
    assert after.digest() == before.digest()
    assert after.names["user"] == {1: "user1", 2: "user2"}
    assert after.group.tolist() == before.group.tolist()
    assert before.epoch - after.epoch == 7 * 86_400


def test_fields_of_swf_are_numbered_again(tmp_path: Path) -> None:
    """Undeclared fields and lines of the header that may hold names are left out."""
    path = tmp_path / "site.swf"
    head = "; Computer: hall\n; UnixStartTime: 1700000000\n; Field 19: gpus\n"
    rows = [
        f"{row(1, user=70)} 4 ann",
        f"{row(2, user=50, submit=4)} 2 bob",
        f"{row(3, user=70)} 0 x",
    ]
    path.write_text(f"{HEADER}{head}{chr(10).join(rows)}\n")
    found = anonymise(path, weeks=2)
    assert found.left_out == ["header Computer", "field 20"]
    assert "hall" not in found.text
    assert "ann" not in found.text
    copy = tmp_path / "copy.swf"
    copy.write_text(found.text)
    w = read_log(copy)
    assert w.user.tolist() == [1, 1, 2]
    assert w.gpus.tolist() == [4, 0, 2]
    assert w.epoch == 1_700_000_000 + 14 * 86_400
    assert np.array_equal(w.submit, read_log(path).submit)


def test_declared_names_of_swf_are_numbered_and_other_words_left_out(tmp_path: Path) -> None:
    """Only declared numbers stay; users of both fields have one numbering."""
    path = tmp_path / "site.swf"
    head = (
        "; Field 19: group\n; Field 20: project account of user\n; Field 21: partition\n"
        "; Field 22: memory per processor (KiB)\n; Field 23: user\n; Field 24: gpus\n"
        "; Field 24: user of the GPUs\n; Field 16: queue\n; Field 4: run\n"
    )
    tails = ["physics alice p-ann 7 5 2", "chem bob p-bob nan carl ann", "physics -1 x 7 5 1"]
    rows = [f"{row(k)} {tail}" for k, tail in enumerate(tails, 1)]
    rows[0] = rows[0].replace(" -1 -1 -1 physics", " secret -1 -1 physics")
    path.write_text(f"{HEADER}{head}{chr(10).join(rows)}\n; Note: by ann\n")
    found = anonymise(path)
    assert found.text.splitlines() == [
        "; MaxProcs: 8",
        "; Field 19: group",
        "; Field 22: memory per processor (KiB)",
        "; Field 23: user",
        "; Field 24: gpus",
        *(
            f"{row(k, user=1)} {tail}"
            for k, tail in enumerate(["1 -1 -1 7 1 2", "2 -1 -1 -1 2 -1", "1 -1 -1 7 1 1"], 1)
        ),
    ]
    assert found.replaced == {"user": 2, "group": 2, "executable": 0}
    assert found.left_out == [
        *(f"header Field {k}" for k in (20, 21, 24, 16, 4)),
        *("words in field 16", "field 20", "field 21", "words in field 24", "header Note"),
    ]
    path.write_text(found.text)
    assert read_log(path).gpus.tolist() == [2, -1, 1]


def test_a_field_of_users_and_of_numbers_is_a_field_of_users(tmp_path: Path) -> None:
    path = tmp_path / "site.swf"
    path.write_text(f"{HEADER}; Field 19: user\n; Field 19: gpus\n{row()} 1007\n")
    found = anonymise(path)
    assert found.text == f"{HEADER}; Field 19: user\n{row(user=1)} 2\n"
    assert found.left_out == ["header Field 19"]


def test_free_text_of_header_lines_is_cut(tmp_path: Path) -> None:
    """A key and its number remain."""
    path = tmp_path / "site.swf"
    path.write_text(
        "; Version: 2.2 converted by Ann Smith <ann@x.org>\n;maxprocs: 8 (contact ann@x.org)\n"
        f"; MaxNodes: ask ann\n; MaxJobs: 1\n{row()}\n"
    )
    found = anonymise(path)
    assert found.text == f"; Version: 2.2\n; maxprocs: 8\n; MaxJobs: 1\n{row(user=1)}\n"
    assert found.left_out == [
        "text in header Version",
        "text in header maxprocs",
        "header MaxNodes",
    ]


def test_an_unknown_start_stays_unknown(tmp_path: Path) -> None:
    path = tmp_path / "site.swf"
    path.write_text(f"{HEADER}; UnixStartTime: 0\n{row()}\n")
    assert "; UnixStartTime: 0\n" in anonymise(path, weeks=5).text
    week = 7 * 86_400
    path.write_text(f"{HEADER}; UnixStartTime: {week + 1} (UTC)\n{row()}\n")
    assert "; UnixStartTime: 1\n" in anonymise(path, weeks=-1).text


@pytest.mark.parametrize(
    ("name", "text", "weeks", "said"),
    [
        ("a.gwf", "# grid\n", 0, "is Grid Workloads Format; only output of Slurm"),
        ("a.sacct", SACCT, 10**6, "weeks=1000000: give a whole number"),
        ("a.sacct", SACCT.replace("secret", "a|b"), 0, "line 2: the row has 14 fields"),
        ("a.sacct", SACCT.replace("2024", "0001"), -9, "be moved by -9 weeks"),
        (
            "a.sacct",
            SACCT.replace("2024-01-08T00:00:10", "08 Jan 00:00"),
            -1,
            "line 5: '08 Jan 00:00' is not a time",
        ),
        ("a.swf", f"; UnixStartTime: 604800\n{row()}\n", -1, "line 1: UnixStartTime 604800 moved"),
        ("a.swf", "; x\n1 2\n", 0, "line 2: the row has 2 fields"),
        ("a.swf", "; x\n", 0, "holds no data row"),
    ],
)
def test_what_cannot_be_anonymised_is_refused(
    tmp_path: Path, name: str, text: str, weeks: int, said: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as error:
        anonymise(tmp_path / name, weeks)
    assert said in str(error.value)
