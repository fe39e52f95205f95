"""Rules of reading and writing the Standard Workload Format (SEMANTICS: time and jobs)."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import InputError, Schedule, Workload, read_swf, write_swf
from core.swf import CACHED_FROM, read_log
from core.swf_cache import ENVIRONMENT, folder, load, store
from core.swf_text import CHUNK, FIELDS, _careful_rows, _fast_rows, parse

HEADER = "; MaxProcs: 8\n"

LOGS = {
    # file: machine, kept jobs, dropped, killed, run 0; counted in TRACES.md
    "CTC-SP2-1996-3.1-cln": (338, 77_222, {}, 7_174, 17),
    "HPC2N-2002-2.2-cln": (240, 202_871, {}, 14_817, 0),
    "KTH-SP2-1996-2.1-cln": (100, 28_475, {"no procs": 1}, 475, 8),
    "METACENTRUM-2009-2": (806, 103_656, {}, 0, 3_712),
    "OSC-Clust-2000-3.1-cln": (178, 36_097, {}, 0, 505),
    "SDSC-BLUE-2000-4.2-cln": (1_152, 243_306 - 10_744, {"no run": 10_744}, 23_434, 26),
    "SDSC-SP2-1998-4.2-cln": (128, 59_715 - 5_671, {"no run": 5_671}, 4_134, 10),
}


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        place = tmp_path_factory.mktemp("cache")
        patch.setenv(ENVIRONMENT, str(place))
        yield place / "swf"


def row(
    job: int = 1,
    submit: object = 0,
    run: object = 10,
    procs: object = 2,
    requested: object = -1,
    time: object = -1,
    user: object = 5,
) -> str:
    """One row; the fields that do not matter hold -1."""
    return f"{job} {submit} -1 {run} {procs} -1 -1 {requested} {time} -1 1 {user} -1 -1 -1 -1 -1 -1"


def read(folder: Path, *rows: str, header: str = HEADER, **options: object) -> Workload:
    path = folder / "log.swf"
    path.write_text(header + "\n".join(rows) + "\n")
    return read_swf(path, **options)  # type: ignore[arg-type]


def big(rows: int) -> str:
    return HEADER + "".join(f"{row(j, submit=j, run=7.5)}\n" for j in range(rows))


@pytest.mark.parametrize("name", LOGS)
def test_real_logs_have_the_counts_of_the_archive(traces: Path, name: str) -> None:
    """Machine, kept rows, rows dropped by reason, kills and run times of 0 are as counted."""
    machine, kept, dropped, killed, run0 = LOGS[name]
    given = 806 if name.startswith("METACENTRUM") else None
    w = read_swf(traces / f"{name}.swf.gz", processors=given)
    assert (w.name, w.processors, len(w), dict(w.dropped)) == (name, machine, kept, dropped)
    assert int(w.killed.sum()) == killed
    assert int(np.count_nonzero(w.run == 0)) == run0


def test_columns_equal_the_independent_parser(traces: Path, golden: Path) -> None:
    """Submit, run, estimate and procs have the hashes of the independent program."""
    for entry in json.loads((golden / "schedules.json").read_text())["traces"].values():
        w = read_swf(traces / entry["file"])
        columns = {"submit": w.submit, "run": w.run, "est": w.estimate, "procs": w.procs}
        for name, column in columns.items():
            digest = hashlib.sha256(column.astype("<i8").tobytes()).hexdigest()
            assert digest == entry[f"sha256_{name}"], (entry["file"], name)


@pytest.mark.parametrize(
    ("header", "machine"),
    [
        ("; MaxProcs: 64\n", 64),
        ("   ;MaxProcs:64\n", 64),
        (";MaxProcs: 1664 (72, of 12 or 24)\n", 1664),
        ("; MaxNodes: 16\n; Note: of four\n", 16),
        ("; MaxNodes: 16\n; MaxProcs: 64\n", 64),
        ("; MaxProcs: -1\n; MaxNodes: 16\n", 16),
        ("; MaxProcs: 64\n; MaxProcs: 32\n", 64),
        ("\n; maxprocs : 64\r\n\n", 64),
        ("\ufeff; MaxProcs: 64\n", 64),
        ("; Installation: H\xf6gskolan\n; MaxProcs: 64\n", 64),
    ],
)
def test_header_gives_the_machine(tmp_path: Path, header: str, machine: int) -> None:
    """MaxProcs gives the machine, else MaxNodes, however the line is set."""
    assert read(tmp_path, row(), header=header).processors == machine


def test_processors_given_override_the_header(tmp_path: Path) -> None:
    """The caller's machine is the machine: a wider job is dropped."""
    w = read(tmp_path, row(1, procs=4), row(2, procs=5), processors=4)
    assert (w.processors, w.job.tolist(), dict(w.dropped)) == (4, [1], {"too wide": 1})
    assert read(tmp_path, row(), header="", processors=3).processors == 3


def test_requested_values_win_over_measured_ones(tmp_path: Path) -> None:
    """Procs and estimate are the requested ones if > 0, else the allocated ones and the run."""
    w = read(
        tmp_path,
        row(1, procs=2, requested=4, time=30),
        row(2, procs=2, requested=-1, time=-1),
        row(3, procs=2, requested=0, time=0),
    )
    assert w.procs.tolist() == [4, 2, 2]
    assert w.estimate.tolist() == [30, 10, 10]


def test_a_job_is_killed_at_its_estimate(tmp_path: Path) -> None:
    """Run = min(run, estimate), and killed says that the log's run time was longer."""
    w = read(tmp_path, row(1, run=10, time=9), row(2, run=10, time=10), row(3, run=10, time=11))
    assert w.run.tolist() == [9, 10, 10]
    assert w.killed.tolist() == [True, False, False]


def test_decimals_are_truncated(tmp_path: Path) -> None:
    """Times with decimals lose them, never rounded."""
    w = read(tmp_path, row(submit=3.99, run="7.5", time="8.", procs="2.0"))
    assert (w.submit[0], w.run[0], w.estimate[0], w.procs[0]) == (3, 7, 8, 2)


def test_estimates_need_64_bits(tmp_path: Path) -> None:
    """An estimate beyond 32 bits, and beyond the whole numbers of a float64, is kept."""
    assert read(tmp_path, row(time=2**53 + 1)).estimate.tolist() == [2**53 + 1]


def test_rows_need_not_be_sorted(tmp_path: Path) -> None:
    """Jobs are in (submit, position) order, and job and user are fields 1 and 12."""
    w = read(tmp_path, row(1, 5, user=1), row(2, 0, user=2), row(3, 5, user=3), row(4, 0, user=-1))
    assert w.job.tolist() == [2, 4, 1, 3]
    assert w.user.tolist() == [2, -1, 1, 3]


def test_rows_select_before_any_filter(tmp_path: Path) -> None:
    """Rows count the file's data rows from 0, the dropped ones too; the second is left out."""
    lines = [row(1, 9), row(2, run=-1), row(3, 8), row(4, 0)]
    w = read(tmp_path, *lines, rows=(1, 3))
    assert (w.job.tolist(), dict(w.dropped)) == ([3], {"no run": 1})


def test_jobs_are_the_first_that_survive(tmp_path: Path) -> None:
    """Jobs = k keeps the first k by (submit, position); fewer survivors are all kept."""
    lines = [row(1, 9), row(2, run=-1), row(3, 8), row(4, 0)]
    assert read(tmp_path, *lines, jobs=2).job.tolist() == [4, 3]
    assert read(tmp_path, *lines, jobs=99).job.tolist() == [4, 3, 1]
    assert read(tmp_path, *lines, rows=(0, 3), jobs=1).job.tolist() == [3]


def test_dropped_rows_count_once_by_reason(tmp_path: Path) -> None:
    """Each row that cannot be simulated counts under the first reason that holds."""
    w = read(
        tmp_path,
        row(1),
        row(2, procs=0, requested=0, run=-1),
        row(3, procs=9),
        row(4, run=-1, submit=-1),
        row(5, submit=-1),
        row(6, run=-1),
    )
    assert dict(w.dropped) == {"no procs": 1, "too wide": 1, "no run": 2, "no submit": 1}


def test_run_time_0_stays(tmp_path: Path) -> None:
    """A job of run time 0 is kept, with an estimate of 0 if none was requested."""
    w = read(tmp_path, row(1, run=0), row(2, run=0, time=5))
    assert (w.run.tolist(), w.estimate.tolist()) == ([0, 0], [0, 5])


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a.swf", "a"),
        ("a-2.1-cln.swf.gz", "a-2.1-cln"),
        ("a.b", "a.b"),
        ("A.SWF.GZ", "A"),
        (".swf", ".swf"),
    ],
)
def test_name_is_the_file_without_suffixes(tmp_path: Path, name: str, shown: str) -> None:
    """Only .swf and .gz are suffixes: the archive's names hold dots."""
    (tmp_path / name).write_text(HEADER + row())
    assert read_swf(tmp_path / name).name == shown


def test_gzip_is_known_by_its_first_bytes(tmp_path: Path) -> None:
    """Gzip without .gz, plain text with .gz, and gzip of several members are all read."""
    first, second = (HEADER + row() + "\n").encode(), row(2, submit=3).encode()
    (tmp_path / "zipped.swf").write_bytes(gzip.compress(first) + gzip.compress(second))
    (tmp_path / "plain.swf.gz").write_bytes(first + second)
    for name in ("zipped.swf", "plain.swf.gz"):
        assert read_swf(tmp_path / name).submit.tolist() == [0, 3]


def test_comments_and_blank_lines_between_rows_are_skipped(tmp_path: Path) -> None:
    """A comment may stand anywhere; rows count without it."""
    w = read(tmp_path, row(1), "", " ; a note", row(2), "   ", rows=(1, 2))
    assert w.job.tolist() == [2]


BAD = {
    "17 fields": (HEADER + row() + "\n" + row()[:-3], "line 3: the row has 17 fields"),
    "19 fields": (HEADER + row() + " -1", "line 2: the row has 19 fields"),
    "17 then 19": (HEADER + row()[:-3] + "\n" + row() + " 1", "line 2: the row has 17 fields"),
    "split row": (HEADER + row().replace("10 2", "10\n2"), "line 2: the row has 4 fields"),
    "word": (HEADER + row(run="ten"), "line 2: 'ten' is not a number"),
    "underscore": (HEADER + row(run="1_0"), "line 2: '1_0' is not a number"),
    "nan": (HEADER + row(run="nan"), "line 2: 'nan' is not a number"),
    "lone minus": (HEADER + row(run="-"), "line 2: '-' is not a number"),
    "two points": (HEADER + row(run="1.2.3"), "line 2: '1.2.3' is not a number"),
    "65 bits": (HEADER + row(time=2**63), "9223372036854775808 does not fit 64 bits"),
    "huge": (HEADER + row(time="1e999"), "1e999 does not fit 64 bits"),
    "horizon": (HEADER + row(submit=2**62), "past the clock's"),
    "no machine": (row(), "neither MaxProcs nor MaxNodes"),
    "no job": (HEADER + row(run=-1), "no job is left to simulate; rows dropped: 1 no run"),
    "header only": (HEADER, "holds no data row"),
    "empty": ("", "holds no data row"),
    "binary": ("\0\1\2 rubbish", "holds binary data"),
    "text": ("<html>not found</html>", "line 1: the row has 2 fields"),
}


@pytest.mark.parametrize(("text", "said"), BAD.values(), ids=BAD)
def test_a_bad_log_is_refused_by_file_and_line(tmp_path: Path, text: str, said: str) -> None:
    """Each fault is one sentence with the file and, where there is one, the line."""
    path = tmp_path / "bad.swf"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        read_swf(path)
    assert str(path) in str(error.value)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_missing_file_and_folder_are_refused(tmp_path: Path) -> None:
    """What cannot be opened is named with the system's reason."""
    with pytest.raises(InputError, match=r"none\.swf: cannot read the log \(No such file"):
        read_swf(tmp_path / "none.swf")
    with pytest.raises(InputError, match=r"Is a directory"):
        read_swf(tmp_path)


def test_damaged_gzip_is_refused(tmp_path: Path) -> None:
    """A gzip that was cut, changed or followed by rubbish says so."""
    whole = gzip.compress((HEADER + row()).encode(), mtime=0)
    flipped = whole[:15] + bytes([whole[15] ^ 1]) + whole[16:]
    for content in (whole[:-9], whole[:5], flipped, whole + b"rubbish"):
        (tmp_path / "bad.swf.gz").write_bytes(content)
        with pytest.raises(InputError, match=r"bad\.swf\.gz: the gzip data is truncated or dam"):
            read_swf(tmp_path / "bad.swf.gz")


@pytest.mark.parametrize(
    "options",
    [
        {"rows": (0, 3)},
        {"rows": (1, 1)},
        {"rows": (2, 1)},
        {"rows": (-1, 1)},
        {"rows": (0, 1.5)},
        {"rows": (0, 1, 2)},
        {"rows": 5},
        {"jobs": 0},
        {"jobs": -1},
        {"jobs": 1.5},
        {"jobs": True},
        {"processors": 0},
        {"processors": "8"},
    ],
)
def test_bad_choices_are_refused(tmp_path: Path, options: dict[str, object]) -> None:
    """Rows beyond the file, an empty range, and numbers that are not whole are refused by name."""
    key, value = next(iter(options.items()))
    with pytest.raises(InputError, match=rf"log\.swf: {key}=") as error:
        read(tmp_path, row(1), row(2), **options)
    assert repr(value) in str(error.value)


def agree(text: bytes) -> bool:
    """Whether the fast parser takes the text; if so it must read it as the careful one does."""
    fast = _fast_rows(text)
    assert fast is None or np.array_equal(fast, _careful_rows(text, "log", 1))
    return fast is not None


@settings(max_examples=400, deadline=None)
@given(
    word=st.text("0123456789-. +e;\t\r\n", min_size=1, max_size=6),
    words=st.integers(0, 2),
    at=st.sampled_from([0, 9, 17, 18, 35]),
)
def test_the_fast_parser_never_differs_from_the_careful_one(word: str, words: int, at: int) -> None:
    """What the fast parser accepts, the careful one reads to the same numbers."""
    fields = f"{row(1, run=3.5)} {row(2)}".split()
    fields[at : at + words] = [word]
    lines = [" ".join(fields[:18]), " ".join(fields[18:]), row(3)]
    agree("\n".join(lines).encode())


@pytest.mark.parametrize(
    "word", [".5", "-.5", "-", "--1", "1-2", "1.2.3", "1.-5", "..", "1..", ";"]
)
@pytest.mark.parametrize("fields", [17, 18, 19])
def test_the_fast_parser_leaves_odd_words_to_the_careful_one(word: str, fields: int) -> None:
    """A word that is no plain number, in a row of any width, is not read fast."""
    for at in (0, 9, fields - 1):
        words = ["-1"] * fields
        words[at] = word
        assert not agree("\n".join([row(), " ".join(words), row()]).encode())


def test_the_fast_parser_takes_plain_rows() -> None:
    """Rows of whole and decimal numbers, the archive's form, need no careful reading."""
    assert agree(f"{row(1, run=3.5, procs='2.')}\r\n  {row(2, time='007')}\t\n{row(3)}".encode())


def test_lines_count_across_chunks() -> None:
    """A fault beyond the first chunk of text is named by its line in the file."""
    text = big(3 * CHUNK // 100)
    lines = text.count("\n")
    assert len(text) > CHUNK
    assert parse(text.encode(), "log").columns["submit"].tolist() == list(range(lines - 1))
    with pytest.raises(InputError, match=f"log, line {lines + 1}: the row has 1 fields"):
        parse((text + "7\n").encode(), "log")


def test_second_read_comes_from_the_cache(tmp_path: Path, cache: Path) -> None:
    """An entry stands under the content's hash: whatever it holds is what a reader gets."""
    path = tmp_path / "big.swf"
    path.write_text(big(2_000))
    assert path.stat().st_size >= CACHED_FROM
    before = read_swf(path)
    (entry,) = cache.glob(f"{hashlib.sha256(path.read_bytes()).hexdigest()}-v*.npy")
    assert read_swf(path).digest() == before.digest()
    log = load(entry.name, FIELDS)
    assert log is not None
    store(entry.name, replace(log, columns=log.columns | {"run": log.columns["run"] + 1}))
    assert np.array_equal(read_swf(path).run, before.run + 1)


def test_damaged_entries_are_ignored_and_rewritten(tmp_path: Path, cache: Path) -> None:
    """An entry cut short, emptied, or with any byte changed never reaches a reader."""
    path = tmp_path / "frail.swf"
    path.write_text(big(1_900))
    right = read_swf(path).digest()
    (entry,) = cache.glob(f"{hashlib.sha256(path.read_bytes()).hexdigest()}-v*.npy")
    whole = entry.read_bytes()
    places = np.random.default_rng(5).integers(0, len(whole), 150)
    flips = [whole[:k] + bytes([whole[k] ^ 2]) + whole[k + 1 :] for k in places.tolist()]
    for content in (b"", b"PK", whole[:100], whole[: len(whole) // 2], *flips):
        entry.write_bytes(content)
        assert read_swf(path).digest() == right
    entry.write_bytes(whole[:-1])
    assert read_log(path).columns["think"].size == 1_900
    assert entry.read_bytes() == whole


def test_unusable_cache_means_no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache folder that cannot be made, or none, changes nothing else."""
    path = tmp_path / "big.swf"
    path.write_text(big(2_100))
    (tmp_path / "file").touch()
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path / "file"))
    assert len(read_swf(path)) == 2_100
    monkeypatch.setenv(ENVIRONMENT, "")
    assert folder() is None
    assert len(read_swf(path)) == 2_100


def test_cache_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """SCHEDFARM_CACHE names the folder, else XDG_CACHE_HOME, else the home's .cache."""
    monkeypatch.setenv(ENVIRONMENT, "/one")
    assert folder() == Path("/one/swf")
    monkeypatch.delenv(ENVIRONMENT)
    monkeypatch.setenv("XDG_CACHE_HOME", "/two")
    assert folder() == Path("/two/schedfarm/swf")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/three")
    assert folder() == Path("/three/.cache/schedfarm/swf")


def test_many_readers_share_one_cache(tmp_path: Path, cache: Path) -> None:
    """Readers that start at once all get the log, and leave one entry and nothing else."""
    path = tmp_path / "shared.swf"
    path.write_text(big(2_200))
    before = set(cache.iterdir())
    with ThreadPoolExecutor(8) as pool:
        digests = set(pool.map(lambda _: read_swf(path).digest(), range(24)))
    assert len(digests) == 1
    assert len(set(cache.iterdir()) - before) == 1


def test_read_log_gives_fields_as_they_stand(tmp_path: Path) -> None:
    """Other fields than a workload's are there for readers of schedules and of partitions."""
    path = tmp_path / "log.swf"
    path.write_text(HEADER + "1 0 44 -1 2 -1 -1 -1 -1 -1 5 9 -1 -1 -1 14 -1 -1\n")
    log = read_log(path)
    assert (log.columns["wait"].tolist(), log.columns["partition"].tolist()) == ([44], [14])
    assert log.columns["run"].tolist() == [-1]


def test_read_log_is_64_bits_wide_from_the_cache_too(tmp_path: Path) -> None:
    """Columns can be added without overflow, though the cache holds 32 bits where they fit."""
    path = tmp_path / "big.swf"
    path.write_text(big(2_300))
    for _ in range(2):
        assert {column.dtype for column in read_log(path).columns.values()} == {np.dtype(np.int64)}
    (tmp_path / "wide.swf").write_text(big(2_300) + row(submit=2**40))
    for _ in range(2):
        assert read_swf(tmp_path / "wide.swf").submit[-1] == 2**40


def small(**changes: object) -> Workload:
    columns: dict[str, object] = {
        "submit": [0, 5, 5],
        "run": [10, 0, 20],
        "estimate": [60, 0, 20],
        "procs": [2, 4, 1],
        "user": [3, -1, 3],
        "job": [7, 7, 9],
        "killed": [False, False, True],
        "processors": 4,
        "name": "small",
    }
    return Workload.from_columns(**(columns | changes))  # type: ignore[arg-type]


def test_written_log_is_the_literal(tmp_path: Path) -> None:
    """18 columns, a header, waits from the schedule, and a killed job 1 s beyond its request."""
    w = small()
    s = Schedule(w, "fcfs+none", np.array([0, 12, 30]), np.zeros(3, bool), np.full(3, -1))
    write_swf(w, tmp_path / "out.swf", s)
    assert (tmp_path / "out.swf").read_text() == (
        "; Version: 2.2\n"
        "; Computer: small\n"
        "; MaxJobs: 3\n"
        "; MaxProcs: 4\n"
        "; MaxEstimate: 60\n"
        "; Note: written by schedfarm; times in s; a killed job runs 1 s beyond its request\n"
        "7 0 0 10 2 -1 -1 2 60 -1 1 3 -1 -1 -1 -1 -1 -1\n"
        "7 5 7 0 4 -1 -1 4 0 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
        "9 5 25 21 1 -1 -1 1 20 -1 5 3 -1 -1 -1 -1 -1 -1\n"
    )


@st.composite
def workloads(draw: st.DrawFn) -> Workload:
    times = st.integers(0, 2**40)
    jobs = draw(st.lists(st.tuples(times, times, times, st.integers(1, 9)), min_size=1))
    submit, one, two, procs = zip(*jobs, strict=True)
    run, estimate = np.minimum(one, two), np.maximum(one, two)
    whole = len(jobs)
    return Workload.from_columns(
        submit=submit,
        run=run,
        estimate=estimate,
        procs=procs,
        processors=9,
        user=draw(st.lists(st.integers(-1, 2**40), min_size=whole, max_size=whole)),
        job=draw(st.lists(st.integers(0, 2**40), min_size=whole, max_size=whole)),
        killed=(run == estimate) & (run > 0) & draw(st.booleans()),
        max_estimate=int(estimate.max()) + draw(st.integers(0, 5)),
    )


@settings(deadline=None)
@given(workload=workloads(), suffix=st.sampled_from([".swf", ".swf.gz"]))
def test_what_is_written_reads_back_equal(workload: Workload, suffix: str) -> None:
    """Reading back gives the same jobs, machine, kills and largest estimate."""
    with TemporaryDirectory() as place:
        write_swf(workload, f"{place}/back{suffix}")
        assert read_swf(f"{place}/back{suffix}").digest() == workload.digest()


def test_real_log_writes_and_reads_back_equal(traces: Path, tmp_path: Path) -> None:
    """A whole log with killed jobs survives the round trip."""
    w = read_swf(traces / "KTH-SP2-1996-2.1-cln.swf.gz")
    write_swf(w, tmp_path / "kth.swf")
    assert read_swf(tmp_path / "kth.swf").digest() == w.digest()


def test_same_jobs_give_the_same_bytes(tmp_path: Path) -> None:
    """Neither the time nor the file's name is in the file, and nothing is left beside it."""
    write_swf(small(), tmp_path / "one.swf.gz")
    write_swf(small(), tmp_path / "two.SWF.GZ")
    one = (tmp_path / "one.swf.gz").read_bytes()
    assert one == (tmp_path / "two.SWF.GZ").read_bytes()
    assert one[4:8] == bytes(4)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["one.swf.gz", "two.SWF.GZ"]


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    """A folder that is missing, or a file in its place, is refused; no temporary stays."""
    with pytest.raises(InputError, match=r"none/a\.swf: cannot write the log \(No such file"):
        write_swf(small(), tmp_path / "none" / "a.swf")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot write the log"):
        write_swf(small(), tmp_path / "file" / "a.swf")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="cannot write the log"):
        write_swf(small(), tmp_path / "folder")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder"]


def test_what_a_log_cannot_say_is_refused(tmp_path: Path) -> None:
    """A killed job that ran less than its estimate, or a schedule of other jobs."""
    with pytest.raises(InputError, match="job 7 is marked as killed"):
        write_swf(small(killed=[True, False, False]), tmp_path / "a.swf")
    with pytest.raises(InputError, match="job 7 is marked as killed"):
        write_swf(small(killed=[False, True, False]), tmp_path / "a.swf")
    other = Schedule(small(), "x", np.zeros(3, np.int64), np.zeros(3, bool), np.full(3, -1))
    with pytest.raises(InputError, match="the schedule is of other jobs"):
        write_swf(small(processors=5), tmp_path / "a.swf", other)
    assert not list(tmp_path.iterdir())


def test_a_name_of_several_lines_stays_in_its_line(tmp_path: Path) -> None:
    """A workload's name cannot smuggle a header line in."""
    write_swf(small(name="a\n; MaxProcs: 1"), tmp_path / "a.swf")
    assert read_swf(tmp_path / "a.swf").processors == 4
