"""The report on the paper about fairness for users: its numbers, its tables, what it writes."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from schedfarm import farm
from schedfarm.analysis import StoreError, open_tree
from schedfarm.analysis.papers import make_report
from schedfarm.analysis.papers.claim import KEY
from schedfarm.analysis.papers.klusacek_2012 import measures as names
from schedfarm.analysis.papers.klusacek_2012.claims import (
    ABLATION,
    CLAIMS,
    claims,
    claims_in_part,
    claims_over_samples,
    claims_over_seeds,
    seeds_table,
)
from schedfarm.analysis.papers.klusacek_2012.measures import (
    AREA,
    HIGH,
    MEASURES,
    SD,
    WITHOUT_F,
    by_paper,
    by_search,
    delays,
    delays_of_samples,
    longest,
    measures,
    nuwt_cdf,
    seeds_of,
)
from schedfarm.analysis.papers.klusacek_2012.paper import COLORS, cdf_chart, wait_chart
from schedfarm.analysis.papers.klusacek_2012.printed import (
    ALGORITHMS,
    BACKFILLING,
    CONS,
    EASY,
    FAIR,
    FCFS,
    PROMISING,
    TABU,
)
from schedfarm.analysis.papers.report import Numbers
from schedfarm.analysis.store import of_log, of_samples
from schedfarm.core import Workload, scale_load, simulate
from schedfarm.core.engine.promises import promises
from schedfarm.core.models.lublin import lublin
from schedfarm.farm.campaign.shipped import find

JOBS = 300
SAMPLES = 4  # the fewest that have a band
TRACES = {"m64": 64, "m128": 128}

STAND_INS = {
    "fcfs+none": "FCFS",
    "fcfs+aggressive": "BF",
    "fcfs+easy": "BF-EASY",
    "fcfs+planned": "BF-CONS",
    "spf+aggressive": "BF-FAIR",
    "fcfs+conservative": "TS",
}
"""The report asks for policies by these names alone; ones of other kernels would only be slower."""

REPORT = "schedfarm.analysis.papers.report"

POLICY = {algorithm: policy for policy, algorithm in STAND_INS.items()}


@pytest.fixture(scope="module", autouse=True)
def stand_ins() -> Iterator[None]:
    """Have other policies stand for the paper's, but where a test asks for its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(names, "ALGORITHMS", STAND_INS)
        yield


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Store of two model machines: the log and four samples."""
    folder = tmp_path_factory.mktemp("klusacek") / "store"
    campaign = farm.Campaign(
        name="small",
        seed=2012,
        traces=tuple(
            farm.Trace(name=name, model="lublin", processors=size, jobs=JOBS)
            for name, size in TRACES.items()
        ),
        policies=tuple(POLICY.values()),
        resamples=SAMPLES,
        log=True,
        tau=1,
        fairness=("promise",),
    )
    assert farm.run(campaign, folder).failed == 0
    return folder


@pytest.fixture(scope="module")
def values(store: Path) -> xr.Dataset:
    return measures(Numbers.of(store))


@pytest.fixture(scope="module")
def curves(store: Path) -> xr.DataArray:
    return nuwt_cdf(Numbers.of(store))


def jobs_of(trace: str) -> Workload:
    return lublin(TRACES[trace], jobs=JOBS, seed=2012, index=0)


def plain_nuwt(jobs: Workload, policy: str) -> list[float]:
    """Formula 1 as it stands, job by job, of users with two jobs or more."""
    waited: dict[int, int] = {}
    worked: dict[int, int] = {}
    count: dict[int, int] = {}
    for user, wait, run, procs in zip(
        jobs.user.tolist(),
        simulate(jobs, policy).wait.tolist(),
        jobs.run.tolist(),
        jobs.procs.tolist(),
        strict=True,
    ):
        waited[user] = waited.get(user, 0) + wait
        worked[user] = worked.get(user, 0) + run * procs
        count[user] = count.get(user, 0) + 1
    return [waited[user] / worked[user] for user in waited if count[user] > 1 and worked[user]]


@pytest.mark.parametrize("algorithm", POLICY)
def test_figure_1_is_that_of_the_schedules(values: xr.Dataset, algorithm: str) -> None:
    """Means of wait, response and slowdown of at least a second, from the starts alone."""
    jobs = jobs_of("m128")
    wait = simulate(jobs, POLICY[algorithm]).wait
    own = of_log(values).sel(trace="m128", load="original", algorithm=algorithm)
    slowdown = [
        max((w + r) / max(r, 1), 1) for w, r in zip(wait.tolist(), jobs.run.tolist(), strict=True)
    ]
    assert own["wait"].item() == wait.sum() / JOBS
    assert own["response"].item() == (wait + jobs.run).sum() / JOBS
    assert own["bounded_slowdown"].item() == pytest.approx(statistics.fmean(slowdown), rel=1e-12)


@pytest.mark.parametrize("algorithm", POLICY)
def test_figure_2_is_that_of_the_schedules(
    values: xr.Dataset, curves: xr.DataArray, algorithm: str
) -> None:
    """Mean, standard deviation and distribution function of users' normalised wait times."""
    nuwt = plain_nuwt(jobs_of("m64"), POLICY[algorithm])
    where = {"trace": "m64", "load": "original", "algorithm": algorithm}
    own = of_log(values).sel(where)
    assert own["users"].item() == len(nuwt)
    expected = {
        "nuwt_mean": statistics.fmean(nuwt),
        SD: statistics.pstdev(nuwt),
        AREA: statistics.fmean([min(x, 10.0) for x in nuwt]),
        HIGH: sum(x > 10 for x in nuwt),
    }
    for name, value in expected.items():
        assert own[name].item() == pytest.approx(value, rel=1e-9), name
    curve = of_log(curves).sel(where)
    assert curve["nuwt"].values[[0, 1, -1]].tolist() == [0.0, 0.05, 10.0]
    for step, share in zip(curve["nuwt"].values.tolist(), curve.values.tolist(), strict=True):
        assert share == sum(x <= step for x in nuwt) / len(nuwt)


def test_the_area_is_what_the_curve_leaves_above_it(
    values: xr.Dataset, curves: xr.DataArray
) -> None:
    """By the trapezoids of its 200 steps, each at most one user's share off."""
    above = (1 - curves).integrate("nuwt")
    np.testing.assert_allclose(above, values[AREA].transpose(*above.dims), atol=0.05)


@pytest.fixture
def tree() -> xr.DataTree:
    """One log under the six algorithms: five users, of whom two do not count, and four jobs.

    Of the algorithm k-th from 0 users have 0, k and 20 k; one of one job has 100 k, one of no
    work none. Jobs were promised 100, 200, 300 and nothing, and start 0, k and 10 k s later.
    """
    policies = list(STAND_INS)
    k = np.arange(len(policies), dtype=np.float64)[:, None]
    nuwt = np.concatenate([0 * k, k, 20 * k, 100 * k, np.nan * k], axis=1)
    count = np.tile([2, 3, 2, 1, 4], (len(policies), 1))
    work = np.tile([10, 20, 30, 40, 0], (len(policies), 1))
    promised = np.tile([100, 200, 300, -1], (len(policies), 1))
    start = promised + np.concatenate([0 * k, k, 10 * k, 501 + 0 * k], axis=1).astype(np.int64)
    cells = ("resample", "load", "policy")
    axes = {"resample": [0], "load": ["original"], "policy": policies}
    group = xr.Dataset(
        {
            "user_nuwt": ((*cells, "user"), nuwt[None, None]),
            "user_jobs": ((*cells, "user"), count[None, None]),
            "user_work": ((*cells, "user"), work[None, None]),
            "promised": ((*cells, "job"), promised[None, None]),
            "start": ((*cells, "job"), start[None, None]),
        },
        {**axes, "user": [11, 12, 13, 14, 15]},
    )
    # Mean of 0, k and 20 k is 7 k, and the sum of squares around it 49 + 36 + 169 = 254 k^2.
    figures = {
        "wait": 10 + k,
        "response": 20 + k,
        "bounded_slowdown": 5 - k / 10,
        "nuwt_mean": 7 * k,
        "nuwt_spread": 254 * k * k,
        "users": 3 + 0 * k,
    }
    root = xr.Dataset(
        {name: (("trace", *cells), of.reshape(1, 1, 1, -1)) for name, of in figures.items()},
        {"trace": ["SDSC-SP2"], **axes},
    )
    return xr.DataTree.from_dict({"/": root, "/SDSC-SP2": group})


def test_users_of_one_job_or_no_work_are_left_out(tree: xr.DataTree) -> None:
    """Three of five count, in the curve as in what the summary says."""
    where = {"trace": "SDSC-SP2", "load": "original", "algorithm": "BF-EASY"}
    own = of_log(measures(Numbers.of(tree))).sel(where)
    assert own[SD].item() == (254 * 4 / 3) ** 0.5
    assert own[AREA].item() == (0 + 2 + 10) / 3
    assert own[HIGH].item() == 1
    curve = of_log(nuwt_cdf(Numbers.of(tree))).sel(where)
    assert curve.sel(nuwt=[0.0, 1.95, 2.0, 10.0]).values.tolist() == [1 / 3, 1 / 3, 2 / 3, 2 / 3]


def test_a_cell_that_is_not_done_has_no_numbers(tree: xr.DataTree) -> None:
    """No users is no curve, not one at 0."""
    group, root = tree["SDSC-SP2"].to_dataset(inherit=False), tree.to_dataset()
    group["user_jobs"][dict(policy=1)] = 0
    root["users"][dict(policy=1)] = 0
    part = xr.DataTree.from_dict({"/": root, "/SDSC-SP2": group})
    missing = {"algorithm": "BF"}
    assert nuwt_cdf(Numbers.of(part)).sel(missing).isnull().all()
    assert measures(Numbers.of(part))[SD].sel(missing).isnull().all()
    assert measures(Numbers.of(part))[[AREA, HIGH]].sel(missing).to_array().isnull().all()
    assert nuwt_cdf(Numbers.of(part)).drop_sel(missing).notnull().all()


def test_a_log_that_knows_no_user_has_no_curve(tree: xr.DataTree) -> None:
    """Its waits are there all the same; where no log knows one, that is said."""
    group, root = tree["SDSC-SP2"].to_dataset(inherit=False), tree.to_dataset()
    two = xr.concat([root, root.assign_coords(trace=["nobody"])], "trace")
    other = group.drop_dims("user")
    both = xr.DataTree.from_dict({"/": two, "/SDSC-SP2": group, "/nobody": other})
    values = measures(Numbers.of(both)).sel(trace="nobody")
    assert values[AREA].isnull().all()
    assert values["wait"].notnull().all()
    with pytest.raises(StoreError, match="no log of the store has users: SDSC-SP2"):
        nuwt_cdf(Numbers.of(xr.DataTree.from_dict({"/": root, "/SDSC-SP2": other})))


def test_users_who_wait_longest(tree: xr.DataTree) -> None:
    """With their jobs, and what mean and deviation are without them; one-job users never."""
    found = longest(Numbers.of(tree)).sort_index().loc[("SDSC-SP2", "original", "BF-CONS")]
    assert found.index.tolist() == [1, 2, 3]
    assert found["user"].tolist() == [13, 12, 11]
    assert found["jobs"].tolist() == [2, 3, 2]
    assert found["work"].tolist() == [30, 20, 10]
    assert found["nuwt"].tolist() == [60.0, 3.0, 0.0]
    np.testing.assert_array_equal(found["mean_without"], [1.5, 0.0, np.nan])
    np.testing.assert_array_equal(found["sd_without"], [1.5, 0.0, np.nan])


def test_missing_policies_are_named(tree: xr.DataTree, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report says which of the paper's a store lacks, the first of them."""
    monkeypatch.setattr(names, "ALGORITHMS", ALGORITHMS)
    with pytest.raises(StoreError, match=r"unknown policy 'fair-share\+aggressive'"):
        measures(Numbers.of(tree))
    monkeypatch.setattr(names, "ALGORITHMS", STAND_INS)
    less = tree.to_dataset().isel(policy=slice(5))
    with pytest.raises(StoreError, match=r"unknown policy 'fcfs\+conservative'"):
        by_paper(less)


def test_delays_against_promises(tree: xr.DataTree) -> None:
    """Of the jobs that were promised a start, how many begin later, and by how much."""
    found = delays(Numbers.of(tree)).loc[("SDSC-SP2", "original")]
    assert found.index.tolist() == list(PROMISING)
    # The fourth from 0 is BF-CONS, the last TS.
    assert found.loc[CONS].tolist() == [3, 2, 2 / 3, 33 / 3, 3, 30, 30]
    assert found.loc[TABU].tolist() == [3, 2, 2 / 3, 55 / 3, 5, 50, 50]


def test_delays_are_those_of_the_schedules(store: Path) -> None:
    """As core promises and starts; with exact estimates a kept reservation delays nobody."""
    found = delays(Numbers.of(store))
    for trace in TRACES:
        assert found.loc[(trace, "original", CONS), "late"] == 0
        jobs = jobs_of(trace)
        late = simulate(jobs, POLICY[TABU]).start - promises(jobs, POLICY[TABU])
        row = found.loc[(trace, "original", TABU)]
        assert row["promised"] == JOBS
        assert row["late"] == np.count_nonzero(late > 0)
        assert row["mean_delay"] == np.maximum(late, 0).sum() / JOBS
        assert row["late_share"] == row["late"] / JOBS
    assert found["late"].sum() > 0
    bands = delays_of_samples(Numbers.of(store))
    own = bands.loc[("unfair_share_promise", "m128", "original", TABU), "log"]
    assert own == found.loc[("m128", "original", TABU), "late_share"]


def test_claims_count_cells_and_logs(tree: xr.DataTree) -> None:
    """Waits are 10 to 15 s from FCFS to TS; users' means 0, 7 and so on."""
    parts = claims_in_part(measures(Numbers.of(tree)))
    found = claims(parts)
    row = found.xs(("TS / FCFS, BF, BF-EASY, BF-CONS, BF-FAIR", "wait"), level=(0, 1)).iloc[0]
    assert row.tolist() == [5, 0, 1, 0, 15 / 12, 15 / 14, 15 / 10]
    row = found.xs(("BF-FAIR / FCFS, BF, BF-EASY, BF-CONS", "nuwt_mean"), level=(0, 1)).iloc[0]
    # 28 / 0 is above 1, whatever it is.
    assert row.tolist() == [4, 0, 1, 0, (4 + 2) / 2, 4 / 3, np.inf]
    row = found.xs(("BF-CONS / BF, BF-EASY", "bounded_slowdown"), level=(0, 1)).iloc[0]
    assert row[["cells", "as_expected", "workloads", "wholly"]].tolist() == [2, 2, 1, 1]
    on_sp2 = f"BF-FAIR / {', '.join(BACKFILLING)} on SDSC-SP2"
    row = found.xs((on_sp2, "wait"), level=(0, 1)).iloc[0]
    assert row[["cells", "as_expected"]].tolist() == [3, 3]
    assert len(found) == len(CLAIMS)
    ratio = parts.xs((on_sp2, "wait", "SDSC-SP2", "BF"), level=(0, 1, 4, 7))["ratio"].item()
    assert ratio == 14 / 11


def test_nothing_from_nothing_is_no_cell(tree: xr.DataTree) -> None:
    """0 / 0: neither is better."""
    root = tree.to_dataset()
    root["bounded_slowdown"][...] = 0.0
    whole = xr.DataTree.from_dict(
        {"/": root, "/SDSC-SP2": tree["SDSC-SP2"].to_dataset(inherit=False)}
    )
    found = claims(claims_in_part(measures(Numbers.of(whole))))
    assert "bounded_slowdown" not in found.index.get_level_values("measure")


def test_claims_on_a_log_that_is_not_there_have_no_row(values: xr.Dataset) -> None:
    """Each of the others has one."""
    parts = claims_in_part(values.sel(resample=[0]))
    said = {name[:2] for name in parts.index}
    assert said == {(c.label, c.measure) for c in CLAIMS if not c.where}
    found = claims(parts)
    assert found.index.is_unique
    of_jobs = found.drop(HIGH, level="measure")
    assert (of_jobs["workloads"] == len(TRACES)).all()
    assert (found["as_expected"] <= found["cells"]).all()
    assert (found["wholly"] <= found["workloads"]).all()
    assert (found["least"] <= found["median"]).all()
    assert (found["median"] <= found["most"]).all()


def test_claims_over_samples(values: xr.Dataset) -> None:
    """Each sample's own ratio, in a band, with the log's beside it."""
    found = claims_over_samples(values)
    row = found.xs(("TS / BF-CONS", "wait", "m128"), level=(0, 1, 4)).iloc[0]
    cell = values["wait"].sel(trace="m128", load="original")
    ratio = cell.sel(algorithm=TABU) / cell.sel(algorithm=CONS)
    each = np.sort(of_samples(ratio).values)
    assert row[["low", "high"]].tolist() == [each[1], each[2]]
    assert row["median"] == np.median(each)
    assert row["log"] == of_log(ratio).item()
    assert row["as_expected"] == np.count_nonzero(each < 1)
    assert row[["first", "last", "samples", "coverage"]].tolist() == [2, 3, 4, 0.2]
    counted = claims(claims_in_part(of_samples(values)))
    assert (counted.drop(HIGH, level="measure")["workloads"] == len(TRACES) * SAMPLES).all()
    whole = counted.xs(("TS / BF-CONS", "wait"), level=(0, 1)).iloc[0]
    both = found.xs(("TS / BF-CONS", "wait"), level=(0, 1))["as_expected"]
    assert whole["as_expected"] == both.sum()


def test_bubbles_and_curves_are_the_numbers(values: xr.Dataset, curves: xr.DataArray) -> None:
    """A circle a policy but FCFS, its area and label the slowdown; a curve a policy."""
    own = of_log(values)
    shown = {str(name): own[name].to_dataset(name="median") for name in own}
    axes = wait_chart(shown, "title").axes[1]
    assert axes.get_title(loc="left") == "m128"
    cell = own.sel(trace="m128", load="original").drop_sel(algorithm=FCFS)
    circles = [
        (float(np.asarray(c.get_offsets())[0, 1]), float(c.get_sizes()[0]))
        for c in axes.collections
    ]
    heights, areas = np.array(circles).T
    np.testing.assert_allclose(heights, cell["wait"] / 3600)
    slowdown = cell["bounded_slowdown"].values
    np.testing.assert_allclose(areas / areas.max(), slowdown / slowdown.max())
    assert [text.get_text() for text in axes.texts] == [f"{x:.4g}" for x in slowdown]
    own_curves = of_log(curves)
    lines = cdf_chart({"share": own_curves.to_dataset(name="median")}, "title").axes[0].get_lines()
    drawn = [np.asarray(line.get_ydata(), np.float64) for line in lines]
    np.testing.assert_array_equal(drawn, 100 * own_curves.sel(trace="m64", load="original"))
    assert [line.get_color() for line in lines] == list(COLORS.values())


def test_report_writes_every_figure_and_table(store: Path, values: xr.Dataset) -> None:
    """Of the log and of samples four figures each, with their numbers, and what was counted."""
    written = make_report("klusacek-2012", store).write(store)
    assert all(path.stat().st_size > 0 for path in written)
    figures = {"figure-1-wait", "figure-1-response", "figure-2-cdf", "figure-2-users"}
    tables = {
        *("figure-1", "figure-2-cdf", "figure-2-users"),
        *("claims", "claims-in-part", "promises"),
    }
    both = {f"{name}.png" for name in figures} | {f"{name}.csv" for name in tables}
    all_names = both | {f"samples-{name}" for name in both} | {"figure-2-longest.csv"}
    assert {path.name for path in written} == all_names
    assert len(written) == len(all_names)
    csv = pd.read_csv(store / "tables" / "figure-1.csv", index_col=[0, 1, 2])
    assert csv.columns.tolist() == ["wait", "bounded_slowdown", "response"]
    own = of_log(values).sel(trace="m64", load="original", algorithm=TABU)
    row = csv.loc[("m64", "original", TABU)]
    assert row.tolist() == [own[name].item() for name in csv.columns]
    csv = pd.read_csv(store / "tables" / "samples-figure-2-users.csv", index_col=[0, 1, 2, 3])
    row = csv.loc[(SD, "m64", "original", FAIR)]
    each = of_samples(values[SD]).sel(trace="m64", load="original", algorithm=FAIR)
    assert row[["low", "high"]].tolist() == np.sort(each.values)[[1, 2]].tolist()
    assert row["units"] == MEASURES[SD].units
    told = pd.read_csv(store / "tables" / "claims.csv", index_col=[0, 1, 2, 3])
    assert list(told.index.names) == list(KEY)
    pd.testing.assert_frame_equal(told, claims(claims_in_part(values.sel(resample=[0]))))


def test_a_store_without_samples_has_the_papers_figures_alone(store: Path, tmp_path: Path) -> None:
    """As one without the log has those of samples alone."""
    tree = open_tree(store)
    for part, prefix in ((slice(0, 0), ""), (slice(1, SAMPLES), "samples-")):
        less = tree.map_over_datasets(
            lambda data, part=part: data.sel(resample=part) if "resample" in data.dims else data
        )
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(f"{REPORT}.open_tree", lambda _, less=less: less)
            # Drawing takes most of a report's time, and what is drawn is looked at elsewhere.
            patch.setattr(f"{REPORT}.save", lambda figure, path: None)
            made = make_report("klusacek-2012", store)
            written, text = made.write(tmp_path / f"{prefix}only"), made.text
        assert {path.name.startswith("samples-") for path in written} == {bool(prefix)}
        assert len(written) == (10 if prefix else 11)
        assert "TS / BF-CONS" in text


def test_the_report_tells_a_terminal_what_became_of_each_conclusion(
    store: Path, values: xr.Dataset
) -> None:
    """A line each, for the logs and for the samples."""
    lines = make_report("klusacek-2012", store).text.splitlines()
    said = claims(claims_in_part(values.sel(resample=[0]))).index
    for claim in said.get_level_values("claim").unique():
        assert sum(line.startswith(f"{claim} ") for line in lines) >= 2, claim


def test_what_ships_is_the_paper() -> None:
    """Six logs, four with seeds, or three with samples, under six algorithms."""
    campaign, more = find("klusacek-2012"), find("klusacek-2012-estimates")
    sampled, seeded = find("klusacek-2012-resamples"), find("klusacek-2012-seeds")
    assert set(campaign.policies) == set(ALGORITHMS)
    searches = seeds_of(seeded.policies)
    assert {name: list(seeds) for name, seeds in searches.items()} == {
        TABU: list(range(10)),
        WITHOUT_F: list(range(10)),
    }
    assert len(seeded.policies) == len(set(ALGORITHMS)) + 19
    assert all(trace in campaign.traces for trace in seeded.traces)
    assert {trace.name for trace in campaign.traces} - {trace.name for trace in seeded.traces} == {
        *("METACENTRUM", "HPC2N")
    }
    assert [trace.name for trace in campaign.traces] == [
        *("METACENTRUM", "SDSC-BLUE", "CTC-SP2", "HPC2N", "SDSC-SP2", "KTH-SP2")
    ]
    assert {trace.clean["estimates"] for trace in campaign.traces} == {"exact"}
    assert [trace.platform is not None for trace in campaign.traces] == [True, *[False] * 5]
    others = {"name": campaign.name, "title": campaign.title, "traces": campaign.traces}
    assert replace(more, **others) == campaign
    # METACENTRUM has no estimates of its own.
    assert [replace(trace, clean={}) for trace in more.traces] == [
        replace(trace, clean={}) for trace in campaign.traces[1:]
    ]
    assert all(trace in campaign.traces for trace in sampled.traces)
    assert (sampled.resamples, sampled.draw) == (10, "weeks")
    assert {one.tau for one in (campaign, more, sampled, seeded)} == {1}


def test_the_papers_algorithms_reach_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The campaign that ships, on 100 jobs of a model for its logs."""
    monkeypatch.setattr(names, "ALGORITHMS", ALGORITHMS)
    trace = farm.Trace(name="m64", model="lublin", processors=64, jobs=100)
    campaign = replace(find("klusacek-2012"), traces=(trace,))
    assert farm.run(campaign, tmp_path / "store").failed == 0
    assert len(make_report("klusacek-2012", tmp_path / "store").write(tmp_path)) == 11
    found = measures(Numbers.of(tmp_path / "store"))
    assert set(found["algorithm"].values) == {*ALGORITHMS.values()}
    assert found[list(MEASURES)].to_array().notnull().all()


SEEDED = ("TS", [[3.0, 1.0, 2.0], [4.0, 8.0, 6.0]]), ("TS-NO-F", [[3.0, 2.0, 1.0], [5.0, 7.0, 6.0]])
"""Values of three seeds on two logs."""


def searched_and_others() -> tuple[xr.Dataset, xr.Dataset]:
    """Return measures of `SEEDED`, and of the paper's algorithms: 2 on one log, 7 on the other."""
    of = np.array([values for _, values in SEEDED]).transpose(1, 0, 2)[:, None, None]
    dims = ("trace", "resample", "load")
    coords = {"trace": ["a", "b"], "resample": [0], "load": ["original"]}
    searched = xr.Dataset(
        {name: ((*dims, "algorithm", "seed"), of) for name in MEASURES},
        {**coords, "algorithm": [name for name, _ in SEEDED], "seed": [0, 1, 2]},
    )
    algorithms = list(ALGORITHMS.values())
    others = np.array([2.0, 7.0])[:, None, None, None] * np.ones((1, 1, len(algorithms)))
    values = xr.Dataset(
        {name: ((*dims, "algorithm"), others) for name in MEASURES},
        {**coords, "algorithm": algorithms},
    )
    return searched, values


def test_seeds_are_spread_and_counted() -> None:
    """Least, median and most, and of how many seeds the value is below another algorithm's."""
    table = seeds_table(*searched_and_others())
    row = table.loc[("wait", "a", "original", TABU)]
    assert row[["seeds", "least", "median", "most"]].tolist() == [3, 1, 2, 3]
    assert row["below_BF-FAIR"] == 1
    row = table.loc[(SD, "b", "original", TABU)]
    assert row[["seeds", "least", "median", "most", "below_BF"]].tolist() == [3, 4, 6, 8, 2]
    assert f"below_{TABU}" not in table


def test_conclusions_are_counted_seed_by_seed() -> None:
    """A cell is a log, another algorithm and a seed; with F against without at the same seed."""
    found = claims(claims_over_seeds(*searched_and_others()))
    row = found.xs(("TS / BF-FAIR", "nuwt_mean"), level=(0, 1)).iloc[0]
    assert row[["cells", "as_expected", "workloads", "wholly"]].tolist() == [6, 3, 6, 3]
    row = found.xs(("TS-NO-F / BF-FAIR", "nuwt_mean"), level=(0, 1)).iloc[0]
    assert row[["cells", "as_expected"]].tolist() == [6, 3]
    row = found.xs(("TS / TS-NO-F", "nuwt_mean"), level=(0, 1)).iloc[0]
    # 3/3, 1/2 and 2/1; 4/5, 8/7 and 6/6.
    assert row.tolist() == [6, 2, 6, 2, 1.0, 0.5, 2.0]
    assert not found.index.get_level_values("claim").str.startswith("BF").any()


def test_a_search_without_its_control_is_counted_alone() -> None:
    """Nothing is said of what F adds."""
    searched, values = searched_and_others()
    found = claims(claims_over_seeds(searched.sel(algorithm=[TABU]), values))
    assert not found.index.get_level_values("claim").str.contains(WITHOUT_F).any()
    assert len(found) == sum(TABU in one.policies for one in CLAIMS)


def test_seeds_that_one_search_lacks_are_missing() -> None:
    """Seeds are told apart by the option of the policy, whatever else it has."""
    policies = ["fcfs+tabu,seed=1,weights=1:1:1:0", "fcfs+easy", "fcfs+tabu,seed=3", "fcfs+tabu"]
    found = by_search(xr.DataArray([1.0, 2.0, 3.0, 4.0], {"policy": policies}))
    assert found["seed"].values.tolist() == [0, 1, 3]
    np.testing.assert_array_equal(found.sel(algorithm=TABU), [4.0, np.nan, 3.0])
    np.testing.assert_array_equal(found.sel(algorithm=WITHOUT_F), [np.nan, 1.0, np.nan])


def test_the_report_of_several_seeds_is_of_their_schedules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two seeds with F and two without, on 100 jobs of a model."""
    monkeypatch.setattr(names, "ALGORITHMS", ALGORITHMS)
    trace = farm.Trace(name="m64", model="lublin", processors=64, jobs=100)
    more = ("fcfs+tabu,seed=1", "fcfs+tabu,weights=1:1:1:0", "fcfs+tabu,seed=1,weights=1:1:1:0")
    campaign = replace(
        find("klusacek-2012-seeds"),
        traces=(trace,),
        policies=(*ALGORITHMS, *more),
        loads=("1.2",),
    )
    assert farm.run(campaign, tmp_path / "store").failed == 0
    made = make_report("klusacek-2012", tmp_path / "store")
    jobs = scale_load(lublin(64, jobs=100, seed=campaign.seed, index=0), 1.2)
    waits = [simulate(jobs, policy).wait.mean() for policy in ("fcfs+tabu", more[0])]
    assert waits[0] != waits[1]
    row = made.tables["seeds"].loc[("wait", "m64", "1.2", TABU)]
    assert row[["least", "most"]].tolist() == sorted(waits)
    below = sum(wait < simulate(jobs, "fcfs+easy").wait.mean() for wait in waits)
    assert row[f"below_{EASY}"] == below
    told = made.tables["claims-of-seeds"].index.get_level_values("claim")
    assert {claim.label for claim in ABLATION} <= set(told)
    assert f"{TABU} / {WITHOUT_F} " in made.text
