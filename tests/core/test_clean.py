"""How a log's rows are cleaned: named options, the default, and what none of them may break."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import Clean, InputError, read_log, read_swf
from tests.core.swf_texts import big, read, row

pytestmark = pytest.mark.usefixtures("swf_cache")

BATSIM = Clean(processors="allocated", estimate_factor=2, kill=False, run_plus=1, zero_run="drop")

ROWS = (
    row(1, run=100, procs=3, requested=4, time=900),
    row(2, run=100, procs=3, requested=4, time=150),
    row(3, run=100, procs=3, requested=4, time=50),
    row(4, run=100, procs=3, requested=4),
    row(5, run=0, procs=3, requested=4, time=50),
    row(6, run=-1, procs=3, requested=4, time=50),
    row(7, run=100, procs=-1, requested=4, time=900),
    row(8, run=100, procs=3, requested=-1, time=900),
)


def test_batsims_inputs(tmp_path: Path) -> None:
    """Allocated processors, the request or twice the run, a second longer, nobody killed."""
    w = read(tmp_path, *ROWS, clean=BATSIM)
    assert w.job.tolist() == [1, 2, 3, 4, 8]
    assert w.procs.tolist() == [3] * 5
    assert w.run.tolist() == [101] * 5
    assert w.estimate.tolist() == [900, 200, 200, 200, 900]
    assert not w.killed.any()
    assert dict(w.dropped) == {"no procs": 1, "no run": 1, "run 0": 1}
    assert w.max_estimate == 900


def test_each_option_alone(tmp_path: Path) -> None:
    """One option changes what it names and nothing else."""

    def of(**options: object) -> list[list[int]]:
        w = read(tmp_path, *ROWS, clean=Clean(**options))  # type: ignore[arg-type]
        return [w.job.tolist(), w.run.tolist(), w.estimate.tolist(), w.procs.tolist()]

    jobs, run = [1, 2, 3, 4, 5, 7, 8], [100, 100, 50, 100, 0, 100, 100]
    estimate, procs = [900, 150, 50, 100, 50, 900, 900], [4, 4, 4, 4, 4, 4, 3]
    assert of() == [jobs, run, estimate, procs]
    some = [0, 1, 2, 3, 4, 6]
    assert of(processors="allocated") == [
        [jobs[i] for i in some],
        [run[i] for i in some],
        [estimate[i] for i in some],
        [3] * 6,
    ]
    longer = [900, 200, 200, 200, 50, 900, 900]
    assert of(estimate_factor=2) == [jobs, [100, 100, 100, 100, 0, 100, 100], longer, procs]
    unkilled = [100, 100, 100, 100, 0, 100, 100]
    assert of(kill=False) == [jobs, unkilled, [900, 150, 100, 100, 50, 900, 900], procs]
    # Who asked for no time is not killed for running on: job 4.
    plus = [900, 150, 50, 101, 50, 900, 900]
    assert of(run_plus=1) == [jobs, [101, 101, 50, 101, 1, 101, 101], plus, procs]
    less = [i for i in range(7) if i != 4]
    assert of(zero_run="drop") == [[x[i] for i in less] for x in (jobs, run, estimate, procs)]


@given(
    rows=st.lists(st.tuples(*[st.integers(0, 5000)] * 2), min_size=1),
    factor=st.integers(0, 3),
    kill=st.booleans(),
    plus=st.integers(0, 2),
)
def test_no_run_exceeds_its_estimate(
    rows: list[tuple[int, int]], factor: int, kill: bool, plus: int
) -> None:
    """Whatever is asked for; and each option holds where it has a say."""
    run, asked = np.array(rows, np.int64).T
    clean = Clean(estimate_factor=factor, kill=kill, run_plus=plus)
    runs, estimates, killed = clean.times(run, asked)
    assert (runs <= estimates).all()
    assert (estimates >= factor * run).all()
    assert (killed == (runs < run + plus)).all()
    assert kill or not killed.any()
    assert (estimates >= asked).all()


def test_other_cleaning_is_another_workload(tmp_path: Path) -> None:
    """Every option leaves its mark on the digest; the default is that of no option."""
    values = {
        "processors": "allocated",
        "estimate_factor": 2,
        "kill": False,
        "run_plus": 1,
        "zero_run": "drop",
    }
    digests = [
        read(tmp_path, *ROWS, clean=Clean(**dict(chosen))).digest()  # type: ignore[arg-type]
        for n in (0, 1)
        for chosen in itertools.combinations(values.items(), n)
    ]
    assert len(set(digests)) == 6
    assert read(tmp_path, *ROWS).digest() == digests[0]
    assert Clean(**values).to_dict() == values  # type: ignore[arg-type]
    assert Clean.from_dict(values) == BATSIM
    assert Clean().to_dict() == {}


def test_a_cached_log_is_cleaned_afresh(tmp_path: Path) -> None:
    """The cache keeps rows as logged, in 32 bits where they fit: products do not wrap around."""
    path = tmp_path / "big.swf"
    path.write_text(big(2_000) + row(2_001, 9_000, run=2**30, time=5) + "\n")
    before = read_swf(path)
    cleaned = read_swf(path, clean=Clean(estimate_factor=4))
    assert int(cleaned.estimate[-1]) == 2**32
    assert (int(before.run[-1]), int(before.estimate[-1])) == (5, 5)
    assert read_swf(path).digest() == before.digest()


def test_a_product_past_the_clock_is_refused(tmp_path: Path) -> None:
    """As any time past it, and not wrapped around."""
    with pytest.raises(InputError, match="past the clock"):
        read(tmp_path, row(run=2**61, time=5), clean=Clean(estimate_factor=1000))
    with pytest.raises(InputError, match="past the clock"):
        read(tmp_path, row(run=2**63 - 1), clean=Clean(run_plus=10**9))


def test_every_format_is_cleaned_alike(tmp_path: Path) -> None:
    """One job in three formats: 3 of 4 processors, 60 s of 90 asked for."""
    gwf = tmp_path / "a.gwf"
    gwf.write_text("1 0 5 60 3 -1 -1 4 90 -1 1 5" + 17 * " -1")
    sacct = tmp_path / "a.sacct"
    sacct.write_text(
        "JobID|User|Submit|Elapsed|Timelimit|ReqCPUS|AllocCPUS\n"
        "1|5|2024-06-01T00:00:00|00:01:00|00:01:30|4|3\n"
    )
    swf = read(tmp_path, row(1, run=60, procs=3, requested=4, time=90), clean=BATSIM)
    others = [read_log(path, processors=8, clean=BATSIM) for path in (gwf, sacct)]
    assert len({w.digest() for w in (swf, *others)}) == 1
    assert (swf.run[0], swf.estimate[0], swf.procs[0]) == (61, 120, 3)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"processors": "all"},
            "clean: processors is 'all'; it must be 'requested' or 'allocated'",
        ),
        ({"zero_run": 0}, "clean: zero_run is 0; it must be 'keep' or 'drop'"),
        ({"kill": 1}, "clean: kill is 1; it must be true or false"),
        ({"estimate_factor": 1.5}, "clean: estimate_factor=1.5: give a whole number, at least 0"),
        (
            {"estimate_factor": 1001},
            "clean: estimate_factor=1001: give a whole number, at most 1000",
        ),
        ({"run_plus": -1}, "clean: run_plus=-1: give a whole number, at least 0"),
        ({"run_plus": True}, "clean: run_plus=True: give a whole number, at least 0"),
        (
            {"killed": False},
            "clean: unknown key 'killed'; did you mean 'kill'? known: processors, estimate_factor, "
            "kill, run_plus, zero_run",
        ),
    ],
)
def test_wrong_options_are_refused(options: dict[str, object], sentence: str) -> None:
    """With the option, its value, and what would be right."""
    with pytest.raises(InputError) as refused:
        Clean.from_dict(options)
    assert str(refused.value) == sentence
