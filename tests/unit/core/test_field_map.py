"""Tables of any columns, and further fields of SWF, read through a map of columns and units."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from schedfarm.core import InputError, Workload, read_log
from schedfarm.core.logs import mapped
from schedfarm.core.logs.field_map import ready_map, ready_names
from tests.support.swf_texts import HEADER, row

CSV = """\
id,when,begin,ran,limit,cpus,mem,gpu,who,state,note
7,2024-01-02 00:00:00,2024-01-02T00:01:00,90.9,2,4,1.5,2,ann,DONE,"a, b"
8,2024-01-01T00:00:00+00:00,nan,60,,2,,,bob,CANCELLED by 12,
x9,2024-01-01 00:00:10,2024-01-01 00:00:20,60,1,1,1,0,ann,DONE,
"""

MAP: dict[str, Any] = {
    "columns": {
        "job": "id",
        "submit": {"column": "when", "unit": "datetime"},
        "start": {"column": "begin", "unit": "datetime"},
        "run": {"column": "ran", "unit": "s"},
        "estimate": {"column": "limit", "unit": "min"},
        "procs": {"column": ["cores", "cpus"], "times": 2},
        "memory": {"column": "mem", "unit": "GiB"},
        "gpus": "gpu",
        "user": "who",
    },
    "drop": {"state": ["CANCELLED", "FAILED"]},
    "processors": 16,
}


def written(folder: Path, text: str = CSV, name: str = "jobs.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def changed(**columns: Any) -> dict[str, Any]:
    """The map with other columns; None leaves one out."""
    joined = {**MAP["columns"], **columns}
    return {**MAP, "columns": {k: v for k, v in joined.items() if v is not None}}


def shown(w: Workload) -> dict[str, list[int]]:
    names = ("submit", "run", "estimate", "procs", "gpus", "memory", "logged_wait", "user")
    return {name: getattr(w, name).tolist() for name in names}


RIGHT = {
    "submit": [0, 86_390],
    "run": [60, 90],
    "estimate": [60, 120],
    "procs": [2, 8],
    "gpus": [0, 2],
    "memory": [2**30, 3 * 2**29],
    "logged_wait": [10, 60],
    "user": [2, 1],
}


def test_a_csv_is_read_by_its_map_and_units(tmp_path: Path) -> None:
    """Factors, units, names and dropped values apply; a job of no number has that of its row."""
    text = CSV.replace("8,2024-01-01T00:00:00+00:00", "8,2024-01-01T00:00:10+00:00")
    w = read_log(written(tmp_path, text), columns=MAP)
    assert shown(w) == {**RIGHT, "user": [1, 1]}
    assert w.job.tolist() == [3, 1]
    assert dict(w.dropped) == {"state CANCELLED": 1}
    assert w.processors == 16
    assert w.epoch == 1_704_067_210
    assert w.names["user"] == {1: "ann", 2: "bob"}


def test_a_parquet_file_gives_the_jobs_of_its_csv(tmp_path: Path) -> None:
    """Types of Arrow and text of CSV become equal workloads: text, timestamps, integers, floats."""
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    us = 1_704_067_210_000_000
    table = {
        "id": pa.array(["7", "8", "x9"]),
        "when": pa.array([us + 86_390_000_000, us, us], pa.timestamp("us")),
        "begin": pa.array(["2024-01-02T00:01:00", None, "2024-01-01 00:00:20"]),
        "ran": pa.array([90.9, 60.0, 60.0]),
        "limit": pa.array([2, None, 1], pa.int32()),
        "cpus": pa.array([4, 2, 1], pa.uint64()),
        "mem": pa.array([1.5, float("nan"), 1.0], pa.float32()),
        "gpu": pa.array(["2", "", "0"]).dictionary_encode(),
        "who": pa.array(["ann", "bob", "ann"]),
        "state": pa.array(["DONE", "CANCELLED by 12", "DONE"]),
        "power": pa.array([[1.0], [2.0], []]),
    }
    path = tmp_path / "jobs.parquet"
    pq.write_table(pa.table(table), path)
    text = CSV.replace("8,2024-01-01T00:00:00+00:00", "8,2024-01-01T00:00:10+00:00")
    from_csv = read_log(written(tmp_path, text), columns=MAP)
    from_parquet = read_log(path, columns=MAP)
    assert shown(from_parquet) == shown(from_csv)
    assert from_parquet.digest() == from_csv.digest()
    assert dict(from_parquet.dropped) == dict(from_csv.dropped)


def test_a_map_may_stand_in_the_toml_file_of_the_name(tmp_path: Path) -> None:
    """A packed log finds it too; the file may name a ready map; other TOML files are no maps."""
    text = "t,r,p\n5000,3000,2\n"
    path = tmp_path / "site.csv.gz"
    path.write_bytes(gzip.compress(text.encode()))
    toml = tmp_path / "site.toml"
    toml.write_text(
        'processors = 4\nepoch = -1\n[columns]\nprocs = "p"\n'
        'submit = { column = "t", unit = "ms" }\nrun = { column = "r", unit = "ms" }\n'
    )
    w = read_log(path)
    assert (w.run.tolist(), w.epoch) == ([3], -1)
    toml.write_text('map = "mit-supercloud"\n')
    with pytest.raises(InputError, match="there is no column 'id_job'"):
        read_log(path)
    toml.unlink()
    with pytest.raises(InputError, match="a table of other columns needs a map"):
        read_log(path)
    with pytest.raises(InputError, match="give a map of its columns and units"):
        read_log(written(tmp_path, "PAR1", "site.parquet"))


def test_quantities_per_node_are_multiplied(tmp_path: Path) -> None:
    text = "t,r,n,p,m\n0,1,3,2,10\n0,1,,2,10\n"
    each = {
        "submit": {"column": "t", "unit": "s"},
        "run": {"column": "r", "unit": "s"},
        "nodes": "n",
        "procs": {"column": "p", "per": "node"},
        "memory": {"column": "m", "unit": "MB", "per": "node"},
    }
    w = read_log(written(tmp_path, text), columns={"columns": each, "processors": 9})
    assert (w.procs.tolist(), w.memory.tolist()) == ([6], [30_000_000])
    assert dict(w.dropped) == {"no procs": 1}


def test_memory_per_processor_is_that_of_the_whole_job(tmp_path: Path) -> None:
    """Requested processors count, also where they are per node themselves, else allocated ones."""
    each = {
        "submit": {"column": "t", "unit": "s"},
        "run": {"column": "t", "unit": "s"},
        "nodes": "n",
        "procs": {"column": "p", "per": "node"},
        "allocated": "a",
        "memory": {"column": "m", "unit": "B", "per": "processor"},
    }
    text = "t,n,p,a,m\n1,3,2,9,10\n1,3,,9,10\n1,3,0,9,10\n"
    w = read_log(written(tmp_path, text), columns={"columns": each, "processors": 9})
    assert w.memory.tolist() == [60, 90, 90]


def per_node(memory: str) -> dict[str, Any]:
    return {
        "columns": {
            "submit": {"column": "t", "unit": "s"},
            "run": {"column": "t", "unit": "s"},
            "procs": "t",
            "nodes": "n",
            "memory": {"column": memory, "unit": "B", "per": "node"},
        },
        "processors": 9,
    }


def test_a_product_beyond_int64_is_refused_by_its_line_or_row(tmp_path: Path) -> None:
    said = "memory per node is 4294967297, and 4294967296 times that is more than 2"
    text = "t,n,m\n1,1,1\n1,4294967296,4294967297\n"
    with pytest.raises(InputError, match=f"jobs.csv, line 3: {said}"):
        read_log(written(tmp_path, text), columns=per_node("m"))
    wide = f"{HEADER}; Field 19: nodes\n; Field 20: memory per node (B)\n{row()}"
    with pytest.raises(InputError, match=f"wide.swf, line 4: {said}"):
        read_log(written(tmp_path, f"{wide} 4294967296 4294967297\n", "wide.swf"))
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    table = {"t": [1, 1], "n": [1, 4294967296], "m": [1, 4294967297]}
    pq.write_table(pa.table(table), tmp_path / "big.parquet")
    with pytest.raises(InputError, match=f"big.parquet, row 2: {said}"):
        read_log(tmp_path / "big.parquet", columns=per_node("m"))


def test_a_sum_of_matches_beyond_int64_is_refused(tmp_path: Path) -> None:
    given = changed(gpus={"column": "note", "match": r"(\d+)"})
    text = CSV.replace('"a, b"', "4611686018427387904+4611686018427387904+9")
    said = r"line 2: gpus \(note\) sums to 9223372036854775817; give matches"
    with pytest.raises(InputError, match=said):
        read_log(written(tmp_path, text), columns=given)


@pytest.mark.parametrize(
    ("kind", "numbers", "right"),
    [
        ("uint8", [7, 9], [7, 9]),
        ("uint32", [7, None], [7, -1]),
        ("uint64", [7, 2**63 - 1], [7, 2**63 - 1]),
        ("uint64", [7, 2**63], [1, 2]),
        ("int16", [7, None], [7, -1]),
    ],
)
def test_job_numbers_of_any_type_of_parquet_are_read(
    tmp_path: Path, kind: str, numbers: list[int | None], right: list[int]
) -> None:
    """Numbers beyond int64 count as words: jobs are numbered by their rows."""
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    table = {"t": [1, 1], "n": [1, 1], "m": [1, 1], "id": pa.array(numbers, kind)}
    pq.write_table(pa.table(table), tmp_path / "ids.parquet")
    given = per_node("m")
    given["columns"]["job"] = "id"
    assert read_log(tmp_path / "ids.parquet", columns=given).job.tolist() == right


BROKEN = {
    "not TOML": ("[columns\n", "log.toml: not TOML"),
    "misspelt": ("[column]\ngpus = { field = 19 }\n", "is a table with [columns], or the name"),
    "no columns": ("processors = 4\n", "is a table with [columns], or the name"),
    "two keys": (
        'map = "aleang"\nprocessors = 4\n',
        "'map' names a ready map and must be the only key",
    ),
}


@pytest.mark.parametrize(("text", "said"), BROKEN.values(), ids=BROKEN)
def test_a_broken_map_next_to_a_log_is_refused(tmp_path: Path, text: str, said: str) -> None:
    """Formats without maps, and TOML files of other programs, are read as ever."""
    toml = written(tmp_path, text, "log.toml")
    log = written(tmp_path, f"{HEADER}{row()}\n", "log.swf")
    with pytest.raises(InputError) as error:
        read_log(log)
    assert str(error.value).startswith(str(toml))
    assert said in str(error.value)
    sacct = "JobID|User|Submit|Elapsed|Timelimit|ReqCPUS\n9|a|2024-06-01T00:00:00|1:00|1:00|4\n"
    assert len(read_log(written(tmp_path, sacct, "log.sacct"), processors=8)) == 1
    toml.write_text('[[traces]]\nfile = "log.swf"\n')
    assert len(read_log(log)) == 1


BAD_MAPS = {
    "no unit": (changed(memory="mem"), "memory has no unit, and it is a memory; give one of B, kB"),
    "wrong unit": (
        changed(run={"column": "ran", "unit": "sec"}),
        "run: unit is 'sec'",
    ),
    "unit of a count": (changed(gpus={"column": "gpu", "unit": "s"}), "a count has none"),
    "unknown target": (changed(cores="cpus"), "unknown column 'cores'"),
    "unknown key": ({**MAP, "colums": {}}, "unknown key 'colums'; did you mean 'columns'?"),
    "not a map": ({"drop": {}}, "a map of columns is a table with [columns]"),
    "empty": ({"columns": {}}, "[columns] is empty"),
    "no ready map": ("frontiers", "no ready map 'frontiers'; did you mean 'frontier'?"),
    "no source": (changed(gpus={"unit": "s"}), "give the log's column, or a table of column"),
    "bad regex": (changed(gpus={"column": "gpu", "match": "("}), "not a regular expression"),
    "no group": (changed(gpus={"column": "gpu", "match": "a"}), "match has 0 groups"),
    "match of a name": (changed(user={"column": "who", "match": "(a)"}), "this is a name"),
    "factor": (changed(run={"column": "ran", "unit": "s", "times": 2}), "the factor of a count"),
    "per": (changed(nodes={"column": "cpus", "per": "node"}), "may have processor"),
    "per itself": (changed(allocated={"column": "cpus", "per": "processor"}), "may have node"),
    "per nothing": (changed(gpus={"column": "gpu", "per": "node"}), "no column of nodes"),
    "no submit": (changed(submit=None), "gives no column 'submit'"),
    "no procs": (changed(procs=None), "gives no column 'procs or allocated'"),
    "end alone": (
        changed(run=None, start=None, end={"column": "begin", "unit": "datetime"}),
        "'end' without 'start' or 'run'",
    ),
    "drop": ({**MAP, "drop": {"state": "FAILED"}}, "drop: state is 'FAILED'; give a list"),
    "dropped column": (
        {**MAP, "drop": {"stat": ["X"]}},
        "no column 'stat', by which",
    ),
    "processors": ({**MAP, "processors": 0}, "processors=0: give a whole number, at least 1"),
    "absent column": (changed(gpus="gpus"), "no column 'gpus', which the map takes for 'gpus'"),
}


@pytest.mark.parametrize(("given", "said"), BAD_MAPS.values(), ids=BAD_MAPS)
def test_a_bad_map_is_refused_in_one_sentence(tmp_path: Path, given: Any, said: str) -> None:
    with pytest.raises(InputError) as error:
        read_log(written(tmp_path), columns=given)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


BAD_ROWS = {
    "negative memory": (("1.5,2,ann", "-5,2,ann"), "line 2: memory (mem) is -5; give at least 0"),
    "half a GPU": (("1.5,2,ann", "1.5,.5,ann"), "line 2: gpus (gpu) is .5; give a whole number"),
    "word": (("90.9", "ten"), "line 2: run (ran) is 'ten'; give a number"),
    "beyond": (("90.9", "1e30"), "line 2: run (ran) is 1e30; give one that fits the clock"),
    "no time": (("2024-01-02 00:00:00", "2 Jan"), "line 2: submit (when) is '2 Jan'; give a time"),
    "ancient": (("2024-01-02 00", "1869-01-02 00"), "give a time from 1970 on"),
    "short row": ((",DONE,\n", ",DONE\n"), "line 4: the row has 10 fields, and the header has 11"),
}


@pytest.mark.parametrize(("change", "said"), BAD_ROWS.values(), ids=BAD_ROWS)
def test_a_bad_value_is_refused_by_its_line(
    tmp_path: Path, change: tuple[str, str], said: str
) -> None:
    path = written(tmp_path, CSV.replace(*change))
    with pytest.raises(InputError) as error:
        read_log(path, columns=MAP)
    assert f"{path}" in str(error.value)
    assert said in str(error.value)


SMALL: dict[str, Any] = {
    "columns": {
        "submit": {"column": "t", "unit": "s"},
        "run": {"column": "r", "unit": "s"},
        "procs": "p",
    },
    "processors": 4,
}

BAD_ARROWS = {
    "negative": ({"p": [2, -1]}, "row 2: procs (p) is -1; give at least 0, or list it"),
    "fraction": ({"p": [2.0, 1.5]}, "row 2: procs (p) is 1.5; give a whole number"),
    "word": ({"r": ["1", "x"]}, "row 2: run (r) is 'x'; give a number"),
    "times": ({"t": "times"}, "submit (t) holds timestamp[ms], and its unit is s; give datetime"),
    "lists": ({"p": [[1], [2]]}, "procs (p) holds list<"),
}


@pytest.mark.parametrize(("change", "said"), BAD_ARROWS.values(), ids=BAD_ARROWS)
def test_a_bad_column_of_parquet_is_refused(tmp_path: Path, change: Any, said: str) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    table: dict[str, Any] = {"t": [0, 1], "r": [1, 1], "p": [1, 1], **change}
    if table["t"] == "times":
        table["t"] = pa.array([0, 1], pa.timestamp("ms"))
    path = tmp_path / "bad.parquet"
    pq.write_table(pa.table(table), path)
    with pytest.raises(InputError) as error:
        read_log(path, columns=SMALL)
    assert str(path) in str(error.value)
    assert said in str(error.value)


@pytest.mark.parametrize("unit", ["datetime", "clock", "slurm"])
def test_numbers_are_in_no_unit_of_text(tmp_path: Path, unit: str) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    name = {"datetime": "submit", "clock": "estimate", "slurm": "memory"}[unit]
    path = tmp_path / "numbers.parquet"
    pq.write_table(pa.table({"t": [0], "r": [1], "p": [1], "n": [5]}), path)
    columns = {**SMALL["columns"], name: {"column": "n", "unit": unit}}
    said = f"{name} (n) holds int64, and its unit is {unit}; give the unit of its numbers"
    with pytest.raises(InputError) as error:
        read_log(path, columns={**SMALL, "columns": columns})
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("unit", "word", "said"),
    [
        ("slurm", "85X", "'85X' is not a size of memory such as 4000M"),
        ("slurm", "9999999999P", "9999999999P of memory is more than 2^62 B"),
        ("clock", "2 weeks", "'2 weeks' is not a time such as 1-02:03:04"),
    ],
)
def test_bad_texts_of_a_unit(tmp_path: Path, unit: str, word: str, said: str) -> None:
    name = "memory" if unit == "slurm" else "estimate"
    columns = {**SMALL["columns"], name: {"column": "m", "unit": unit}}
    with pytest.raises(InputError) as error:
        read_log(written(tmp_path, f"t,r,p,m\n0,1,1,{word}\n"), columns={"columns": columns})
    assert said in str(error.value)


def test_power_and_licences_are_columns_too(tmp_path: Path) -> None:
    """Power per node is that of the job; SWF declares both by its header."""
    columns = {
        **SMALL["columns"],
        "nodes": "n",
        "watts": {"column": "kw", "unit": "kW", "per": "node"},
        "licences": "l",
    }
    text = "t,r,p,n,kw,l\n0,1,1,2,0.25,3\n1,1,1,1,,0\n"
    w = read_log(written(tmp_path, text), columns={**SMALL, "columns": columns})
    assert (w.watts.tolist(), w.licences.tolist()) == ([500, -1], [3, 0])
    swf = f"; MaxProcs: 4\n; Field 19: watts (W)\n; Field 20: licences\n{row()} 70 2\n"
    w = read_log(written(tmp_path, swf, "wide.swf"))
    assert (w.watts.tolist(), w.licences.tolist()) == ([70], [2])


def test_numbers_that_mean_unknown_are_listed(tmp_path: Path) -> None:
    """In CSV and in Parquet alike."""
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    given = {**SMALL, "unknown": ["-1", "99"]}
    path = tmp_path / "some.parquet"
    pq.write_table(pa.table({"t": [0, 1, 2], "r": [1, 1, 1], "p": [-1, 99, 3]}), path)
    logs = (path, written(tmp_path, "t,r,p\n0,1,-1\n1,1,99\n2,1,3\n", "some.csv"))
    for log in logs:
        w = read_log(log, columns=given)
        assert (w.procs.tolist(), dict(w.dropped)) == ([3], {"no procs": 2})


def test_damaged_parquet_and_a_missing_reader_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "cut.parquet"
    path.write_bytes(b"PAR1 rubbish")
    with pytest.raises(InputError, match="damaged, or not Parquet"):
        read_log(path, columns=SMALL)
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(InputError, match=r"pip install 'schedfarm\[parquet\]'"):
        read_log(path, columns=SMALL)


def test_a_map_goes_with_no_format_of_its_own_columns(tmp_path: Path) -> None:
    path = written(tmp_path, "# GWF\n", "a.gwf")
    with pytest.raises(InputError, match="this is Grid Workloads Format; leave it out"):
        read_log(path, columns=SMALL)


WIDE = f"""\
{HEADER}; Field 19: gpus
; Field 20: soft (s)
; Field 21: a text of the owner, in prose
{row(1, submit=0)} 8 15 frontier:excl:4x112
{row(2, submit=5, time=9)} -1 -1 frontier:excl:6x112
{row(3, submit=5)} 0 7 -1
"""


def test_further_fields_of_swf_are_declared_by_the_header(tmp_path: Path) -> None:
    """Fields that nothing declares are counted; the 18 fields are as ever."""
    w = read_log(written(tmp_path, WIDE, "wide.swf"))
    assert w.gpus.tolist() == [8, -1, 0]
    assert w.soft.tolist() == [15, -1, 7]
    assert dict(w.ignored) == {"with a value in field 21, which no map declares": 2}
    assert w.estimate.tolist() == [10, 9, 10]
    assert w.processors == 8


def test_20_fields_without_a_declaration_are_reported(tmp_path: Path) -> None:
    w = read_log(written(tmp_path, f"{HEADER}{row()} 4 30\n", "alea.swf"))
    assert dict(w.ignored) == {
        "with a value in field 19, which no map declares": 1,
        "with a value in field 20, which no map declares": 1,
    }
    assert (w.gpus.tolist(), w.soft.tolist()) == ([-1], [-1])


def test_ready_maps_declare_the_fields_of_swf(tmp_path: Path) -> None:
    """Frontier's width is the number of nodes in its descriptor; AleaNG's stays in processors."""
    w = read_log(written(tmp_path, WIDE, "wide.swf"), columns="frontier")
    assert (w.procs.tolist(), w.nodes.tolist()) == ([4, 6], [4, 6])
    assert w.processors == 9_408
    assert dict(w.dropped) == {"no procs": 1}
    text = f"{HEADER}{row(requested=3)} 4 30\n"
    w = read_log(written(tmp_path, text, "alea.swf"), columns="aleang")
    assert (w.procs.tolist(), w.gpus.tolist(), w.soft.tolist()) == ([3], [4], [30])


def test_a_field_of_the_format_may_be_declared_too(tmp_path: Path) -> None:
    """The memory of field 10 is in KiB per processor, and words of a field are named."""
    text = f"{HEADER}{row(requested=3).replace('3 -1 -1 1', '3 -1 64 1')} red\n"
    given = {
        "columns": {
            "memory": {"field": 10, "unit": "KiB", "per": "processor"},
            "group": {"field": 19},
            "user": {"field": 12},
        }
    }
    w = read_log(written(tmp_path, text, "mem.swf"), columns=given)
    assert w.memory.tolist() == [3 * 64 * 1024]
    assert w.names == {"group": {1: "red"}}
    assert w.user.tolist() == [5]


BAD_WIDE = {
    "19 then 18": (f"{HEADER}{row()} 1\n{row()}\n", "line 3: the row has 18 fields, and the first"),
    "negative": (f"{HEADER}; Field 19: GPUs\n{row()} -8\n", "line 3: gpus (field 19) is -8"),
    "no unit": (f"; Field 19: soft\n{row()} -8\n", "line 1: columns: soft has no unit"),
    "absent": (f"; Field 20: gpus\n{row()} 8\n", "the map takes 'field 20' for 'gpus'; the rows"),
    "twice": (
        f"{HEADER}; Field 19: gpus\n; Field 20: GPUs\n{row()} 8 9\n",
        "line 3: 'gpus' is declared in line 2 already; keep the line that is right",
    ),
    "submit": (f"; Field 19: submit (s)\n{row()} 8\n", "a map of SWF cannot give 'submit'"),
}


@pytest.mark.parametrize(("text", "said"), BAD_WIDE.values(), ids=BAD_WIDE)
def test_bad_further_fields_are_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        read_log(written(tmp_path, text, "bad.swf"), processors=8)
    assert said in str(error.value)


def test_a_map_of_swf_drops_no_rows_and_needs_them(tmp_path: Path) -> None:
    path = written(tmp_path, WIDE, "wide.swf")
    with pytest.raises(InputError, match=r"a map of SWF has no \[drop\]"):
        read_log(path, columns={"columns": {"gpus": {"field": 19}}, "drop": {"a": ["b"]}})
    with pytest.raises(InputError, match="holds no data row"):
        read_log(written(tmp_path, HEADER, "none.swf"), columns="aleang")
    with pytest.raises(InputError, match="the row has 2 fields"):
        read_log(written(tmp_path, f"{HEADER}1 2\n", "short.swf"), columns="aleang")


ROWS = {
    "kestrel": (
        {
            "job_id": 4711,
            "user_hash": "0a1b2c3",
            "account_hash": "9f8e7d6",
            "partition": "gpu-h100",
            "qos": "high",
            "submit_time": "2026-02-19 16:17:31-07",
            "start_time": "2026-02-19 16:18:01-07",
            "end_time": "2026-02-19 18:18:01-07",
            "nodes_req": 1,
            "processors_req": 32,
            "processors_used": 64,
            "memory_req": "85G",
            "wallclock_req": "2 days 12:00:00",
            "gpus_requested": 2,
        },
        {
            "job": 4711,
            "run": 7200,
            "estimate": 216_000,
            "procs": 32,
            "nodes": 1,
            "gpus": 2,
            "memory": 85 * 2**30,
            "logged_wait": 30,
        },
    ),
    "pm100": (
        {
            "job_id": 1,
            "submit_time": "2020-05-01 00:00:00",
            "eligible_time": "2020-05-01 00:00:00",
            "start_time": "2020-05-01 00:01:00",
            "end_time": "2020-05-01 00:11:00",
            "run_time": 600,
            "time_limit": 30,
            "num_cores_req": 128,
            "num_cores_alloc": 128,
            "num_nodes_req": 1,
            "num_gpus_req": 4,
            "priority": 70,
            "user_id": 3,
            "group_id": 4,
            "qos": 1,
            "partition": 0,
        },
        {"run": 600, "estimate": 1800, "procs": 128, "gpus": 4, "logged_wait": 60, "priority": 70},
    ),
    "f-data": (
        {
            "jid": "abc",
            "usr": "u1",
            "adt": "2021-03-01 00:00:00",
            "qdt": "2021-03-01 00:00:01",
            "sdt": "2021-03-01 00:02:00.5",
            "edt": "2021-03-01 01:02:00",
            "duration": 3600.0,
            "elpl": 7200.0,
            "cnumr": 96,
            "cnumat": 96,
            "nnumr": 2,
        },
        {"run": 3600, "estimate": 7200, "procs": 96, "nodes": 2, "logged_wait": 120, "job": 1},
    ),
    "philly": (
        {
            "jobid": "application_1_2",
            "submitted_time": "2017-10-07 01:11:39",
            "start_time": "2017-10-07 01:12:09",
            "end_time": "2017-10-07 01:13:09",
            "gpus": 8,
            "user": "ce2f4c",
            "vc": "ee9e8c",
        },
        {"run": 60, "estimate": 60, "procs": 8, "gpus": 8, "logged_wait": 30},
    ),
    "mit-supercloud": (
        {
            "id_job": 4_074_251_073_298,
            "time_submit": 1_610_000_000,
            "time_start": 1_610_000_010,
            "time_end": 1_610_000_110,
            "timelimit": 5760,
            "tres_alloc": '"1=20,2=170000,4=1,5=20,1002=2"',
            "nodes_alloc": 1,
            "id_user": 9,
        },
        {
            "run": 100,
            "estimate": 345_600,
            "procs": 20,
            "gpus": 2,
            "memory": 170_000 * 2**20,
            "logged_wait": 10,
        },
    ),
}


@pytest.mark.parametrize(("name", "given"), ROWS.items(), ids=ROWS)
def test_ready_maps_read_rows_of_their_documentation(
    tmp_path: Path, name: str, given: tuple[dict[str, Any], dict[str, int]]
) -> None:
    cells, right = given
    text = f"{','.join(cells)}\n{','.join(map(str, cells.values()))}\n"
    w = read_log(written(tmp_path, text), columns=name, processors=1000)
    assert {key: int(getattr(w, key)[0]) for key in right} == right


def test_every_ready_map_names_its_documentation() -> None:
    for name in ready_names():
        about = ready_map(name).about
        assert {"title", "documentation", "acknowledge"} <= set(about), name


def test_careful_and_fast_readings_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A quote makes a chunk be read line by line; the words give the same numbers."""
    lines = [f"{k},{k % 7 * 1000 + 1},{1 + k % 3}" for k in range(50)]
    plain = written(tmp_path, "\n".join(["t,r,p", *lines]) + "\n", "plain.csv")
    quoted = written(tmp_path, "\n".join(['t,"r",p', *lines, '"50",1,1']) + "\n", "quoted.csv")
    given = {**SMALL, "columns": {**SMALL["columns"], "run": {"column": "r", "unit": "ms"}}}
    fast, slow = (read_log(path, columns=given) for path in (plain, quoted))
    assert fast.run.tolist() == slow.run.tolist()[:-1]
    assert fast.procs.tolist() == slow.procs.tolist()[:-1]
    assert mapped.is_parquet(str(plain)) is False
