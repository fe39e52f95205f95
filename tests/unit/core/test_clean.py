"""How a log's rows are cleaned: named options, the default, and what none of them may break."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from schedfarm.core import Clean, InputError, read_log, read_swf
from tests.support.swf_texts import HEADER, big, read, row

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
    # Who ran on beyond the request is not killed at it: job 3.
    assert of(estimates="exact") == [jobs, unkilled, unkilled, procs]
    assert of(run_plus=1) == [jobs, [101, 101, 50, 101, 1, 101, 101], plus, procs]
    # Job 4 asks for nothing; one that ran longer than it is given is not killed for that.
    given = [900, 150, 50, 3600, 50, 900, 900]
    assert of(no_estimate=3600) == [jobs, run, given, procs]
    assert of(no_estimate=60) == of()
    # A limit kills nobody whom his own request did not kill.
    limited = [120, 120, 50, 100, 50, 120, 120]
    assert of(max_estimate=120) == [jobs, run, limited, procs]
    limited = [100, 100, 50, 100, 50, 100, 100]
    assert of(max_estimate=70) == [jobs, run, limited, procs]
    less = [i for i in range(7) if i != 4]
    assert of(zero_run="drop") == [[x[i] for i in less] for x in (jobs, run, estimate, procs)]


@given(
    rows=st.lists(st.tuples(*[st.integers(0, 5000)] * 2), min_size=1),
    factor=st.integers(0, 3),
    kill=st.booleans(),
    plus=st.integers(0, 2),
    none=st.sampled_from(["run", "f-model", "tsafrir", 60]),
    limit=st.sampled_from([0, 1, 4000]),
)
def test_no_run_exceeds_its_estimate(
    rows: list[tuple[int, int]],
    factor: int,
    kill: bool,
    plus: int,
    none: str | int,
    limit: int,
) -> None:
    """Whatever is asked for; and each option holds where it has a say."""
    run, asked = np.array(rows, np.int64).T
    clean = Clean(
        estimate_factor=factor, kill=kill, run_plus=plus, no_estimate=none, max_estimate=limit
    )
    runs, estimates, killed = clean.times(run, asked)
    assert (runs <= estimates).all()
    assert (estimates >= factor * run).all()
    assert (killed == (runs < run + plus)).all()
    assert kill or not killed.any()
    assert (estimates >= (np.minimum(asked, limit) if limit else asked)).all()
    # Who requests nothing is never killed, and only a limit makes who requests something be less.
    assert not killed[asked <= 0].any()
    most = np.maximum(np.maximum(limit, run + plus), factor * run)
    assert not limit or (estimates <= most).all()


@pytest.mark.parametrize("model", ["f-model", "tsafrir"])
def test_models_draw_for_whom_requests_nothing(tmp_path: Path, model: str) -> None:
    """The others keep what they asked for; the draw depends on the log's name alone."""
    rows = [row(j, submit=j, run=100 + j, time=-1 if j % 2 else 7_777) for j in range(1, 201)]
    w = read(tmp_path, *rows, clean=Clean(no_estimate=model))
    asked = w.job % 2 == 0
    assert (w.estimate[asked] == 7_777).all()
    drawn = w.estimate[~asked]
    assert (drawn > w.run[~asked]).mean() > 0.9
    assert len(set(drawn.tolist())) > 3
    assert int(drawn.max()) <= (7_777 if model == "tsafrir" else 6 * 300 + 60)
    again = read(tmp_path, *rows, clean=Clean(no_estimate=model))
    assert again.digest() == w.digest()


def test_rows_without_a_request_are_counted(tmp_path: Path) -> None:
    """Of those that become jobs, where their run time is their estimate; selections keep it."""
    w = read(tmp_path, *ROWS, row(9, run=100))
    assert w.unasked == (2, 8)
    assert w.take(w.job > 8).unasked == (2, 8)
    assert read(tmp_path, *ROWS, clean=Clean(no_estimate=60)).unasked == (0, 7)
    sacct = tmp_path / "a.sacct"
    sacct.write_text(
        "JobID|User|Submit|Elapsed|Timelimit|ReqCPUS\n"
        "1|5|2024-06-01T00:00:00|00:01:00|UNLIMITED|4\n"
        "2|5|2024-06-01T00:00:00|00:01:00|00:02:00|4\n"
        "3|5|2024-06-01T00:00:00|00:01:00|Partition_Limit|4\n"
    )
    assert read_log(sacct, processors=4).unasked == (2, 3)
    gwf = tmp_path / "a.gwf"
    gwf.write_text("1 0 5 60 3 -1 -1 4 -1 -1 1 5" + 17 * " -1")
    assert read_log(gwf, processors=4).unasked == (1, 1)


@given(
    rows=st.lists(st.tuples(*[st.integers(0, 5000)] * 2), min_size=1),
    kill=st.booleans(),
    plus=st.integers(0, 2),
)
def test_exact_estimates_are_the_run_times(
    rows: list[tuple[int, int]], kill: bool, plus: int
) -> None:
    """Whatever was requested: as logged, and longer where runs are."""
    run, asked = np.array(rows, np.int64).T
    clean = Clean(estimates="exact", kill=kill, run_plus=plus)
    runs, estimates, killed = clean.times(run, asked)
    assert runs.tolist() == estimates.tolist() == (run + plus).tolist()
    assert not killed.any()


def test_exact_estimates_are_no_caution(tmp_path: Path) -> None:
    """Orders by estimate are meant to know the run times then, of whoever requests nothing too."""
    w = read(tmp_path, *ROWS, clean=Clean(estimates="exact"))
    assert w.unasked == (0, 7)


def test_the_limit_is_the_platforms(tmp_path: Path) -> None:
    """A multiple of the largest estimate, such as threshold=3x, is one of the limit."""
    absurd = row(1, run=50, time=2**31 - 1)
    assert read(tmp_path, absurd).max_estimate == 2**31 - 1
    for header in (HEADER, HEADER + "; MaxEstimate: 99999999\n"):
        day = read(tmp_path, absurd, header=header, clean=Clean(max_estimate=86_400))
        assert day.max_estimate == 86_400


def test_other_cleaning_is_another_workload(tmp_path: Path) -> None:
    """Every option leaves its mark on the digest; the default is that of no option."""
    values = {
        "processors": "allocated",
        "no_estimate": 7200,
        "max_estimate": 899,
        "estimate_factor": 2,
        "kill": False,
        "run_plus": 1,
        "zero_run": "drop",
    }
    exact = {"estimates": "exact"}
    each = [dict(chosen) for n in (0, 1) for chosen in itertools.combinations(values.items(), n)]
    digests = [
        read(tmp_path, *ROWS, clean=Clean(**options)).digest()  # type: ignore[arg-type]
        for options in (*each, exact)
    ]
    assert len(set(digests)) == 9
    assert Clean.from_dict(exact).to_dict() == exact
    assert read(tmp_path, *ROWS).digest() == digests[0]
    assert Clean(**values).to_dict() == values  # type: ignore[arg-type]
    assert Clean.from_dict(values) == Clean(**values)  # type: ignore[arg-type]
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
        (
            {"estimates": "perfect"},
            "clean: estimates is 'perfect'; it must be 'requested' or 'exact'",
        ),
        (
            {"estimates": "exact", "estimate_factor": 2},
            "clean: estimate_factor is 2, which changes estimates, and estimates is 'exact'; "
            "leave one of them out",
        ),
        ({"zero_run": 0}, "clean: zero_run is 0; it must be 'keep' or 'drop'"),
        ({"kill": 1}, "clean: kill is 1; it must be true or false"),
        (
            {"estimate_factor": 1.5},
            "clean: estimate_factor=1.5: give a whole number, at least 0 and at most 1000",
        ),
        (
            {"estimate_factor": 1001},
            "clean: estimate_factor=1001: give a whole number, at least 0 and at most 1000",
        ),
        (
            {"max_estimate": -1},
            "clean: max_estimate=-1: give a whole number, at least 0 and at most 1000000000",
        ),
        *(
            (
                {"no_estimate": value},
                f"clean: no_estimate is {value!r}; it must be 'run', 'f-model', 'tsafrir' or "
                "seconds from 1 to 1000000000",
            )
            for value in ("exact", 0, True, 10**9 + 1, 60.5, None)
        ),
        (
            {"run_plus": -1},
            "clean: run_plus=-1: give a whole number, at least 0 and at most 1000000000",
        ),
        (
            {"run_plus": True},
            "clean: run_plus=True: give a whole number, at least 0 and at most 1000000000",
        ),
        (
            {"killed": False},
            "clean: unknown key 'killed'; did you mean 'kill'? known: processors, estimates, "
            "no_estimate, max_estimate, estimate_factor, kill, run_plus, zero_run, submit, "
            "no_wait, cancelled, reserved",
        ),
        (
            {"cancelled": "queue", "estimates": "exact"},
            "clean: cancelled is 'queue', and estimates is 'exact', but a job that never started "
            "has no run time; leave one of them out",
        ),
    ],
)
def test_wrong_options_are_refused(options: dict[str, object], sentence: str) -> None:
    """With the option, its value, and what would be right."""
    with pytest.raises(InputError) as refused:
        Clean.from_dict(options)
    assert str(refused.value) == sentence
