"""A bad campaign or log is refused with one sentence and exit status 2; nothing is written."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

from tests.support.refusals import GOOD, LOG, Said, other_trace, refused, unlike, write

POOL = {"name": "pool", "configuration": {"processors": 64}}


def on(platform: object) -> list[dict[str, Any]]:
    """Return a model on this platform."""
    return [{"name": "m", "model": "lublin", "platform": platform, "jobs": 40}]


CAMPAIGNS: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    (
        {"polices": ["x"]},
        ("c.toml", "unknown key 'polices'", "did you mean 'policies'", "loads"),
    ),
    (
        {"traces": other_trace(procesors=4)},
        ("c.toml: traces[0]", "unknown key 'procesors'", "'processors'", "jobs"),
    ),
    ({"policies": ["saf+esay"]}, ("c.toml", "'saf+esay'", "'esay'", "easy, depth(K)")),
    ({"policies": ["safe+easy"]}, ("c.toml", "'safe'", "fcfs, lcfs, spf")),
    (
        {"policies": ["fair-wait+easy"]},
        ("c.toml", "order 'fair-wait' is called 'fair-share' now; write 'fair-share'"),
    ),
    ({"policies": ["saf"]}, ("c.toml", "'saf'", "ORDER+RULE")),
    ({"policies": "saf+easy"}, ("c.toml", "policies is", "'saf+easy'", "list")),
    ({"policies": [1]}, ("c.toml", "policies is [1]", "a list of", "such as 'saf+easy'")),
    ({"policies": []}, ("c.toml", "policies is []", "at least one")),
    ({"policies": ["spf+easy", "SJF+easy"]}, ("c.toml", "policies", "'spf+easy' twice")),
    ({"loads": [0.9, "0.90"]}, ("c.toml", "loads", "'0.9' twice")),
    ({"loads": [0]}, ("c.toml", "load 0 ", "0.9")),
    ({"loads": [-0.5]}, ("c.toml", "load -0.5 ", "0.9")),
    ({"loads": ["high"]}, ("c.toml", "load 'high'", "'original'", "0.9")),
    ({"loads": ["nan"]}, ("c.toml", "load 'nan'", "0.9")),
    ({"loads": [True]}, ("c.toml", "load True", "0.9")),
    ({"loads": [10**400]}, ("c.toml", "load 1000", "0.9")),
    ({"resamples": -1}, ("c.toml", "resamples is -1", "at least 1")),
    ({"resamples": "ten"}, ("c.toml", "resamples is 'ten'", "whole number", "at least 1")),
    ({"title": "a\x1b[31mb"}, ("c.toml", "title", "characters that can be seen")),
    ({"tau": 0}, ("c.toml", "tau is 0", "at least 1")),
    ({"seed": -1}, ("c.toml", "seed is -1", "0 to 2^63")),
    ({"seed": 2**63}, ("c.toml", "seed is 9223372036854775808", "0 to 2^63")),
    ({"draw": "some"}, ("c.toml", "'some'", "replace, permute")),
    ({"name": "a/b"}, ("c.toml", "'a/b'", "letters")),
    ({"traces": []}, ("c.toml", "traces is []", "[[traces]]")),
    ({"traces": 2 * other_trace()}, ("c.toml", "traces", "'m' twice")),
    ({"traces": other_trace(name="a/b")}, ("c.toml", "'a/b'", "letters")),
    ({"traces": other_trace(name="..")}, ("c.toml", "'..'", "letters")),
    ({"traces": other_trace(name="wait")}, ("c.toml", "'wait'", "another")),
    ({"traces": other_trace(name="policy")}, ("c.toml", "'policy'", "another")),
    ({"traces": other_trace(name="jobs")}, ("c.toml", "'jobs'", "another")),
    ({"traces": other_trace(name="zarr.json")}, ("c.toml", "'zarr.json'", "another")),
    ({"traces": [{"name": "m"}]}, ("c.toml", "'m'", "'file'", "'model'")),
    ({"traces": [{"name": "m", "model": "lublin", "jobs": 5}]}, ("'m'", "'processors'")),
    ({"traces": other_trace(model="lubin")}, ("c.toml", "'m'", "'lubin'", "lublin")),
    ({"traces": other_trace(processors=0)}, ("c.toml", "'m'", "processors is 0", "at least 1")),
    (
        {"traces": other_trace(jobs="40")},
        ("c.toml: traces[0]: trace 'm'", "jobs is '40'", "at least 1"),
    ),
    ({"traces": other_trace(weeks=3)}, ("c.toml", "'m'", "'jobs' or 'weeks'")),
    ({"traces": other_trace(parameters={"user": 3})}, ("'m'", "'user'", "users")),
    ({"traces": other_trace(parameters={"users": 0})}, ("'m'", "users=0", "at least 1")),
    ({"traces": other_trace(parameters={"classes": [1]})}, ("'m'", "classes=[1]")),
    ({"traces": other_trace(parameters=5)}, ("c.toml", "'m'", "parameters", "5", "table")),
    (
        {"traces": other_trace(clean={"kill": False})},
        ("c.toml: traces[0]", "'m'", "'clean' is for logs only"),
    ),
    (
        {"traces": [{"file": "a.swf", "clean": {"kil": False}}]},
        ("c.toml: traces[0]", "'a'", "unknown key 'kil'", "did you mean 'kill'"),
    ),
    (
        {"traces": [{"file": "a.swf", "clean": {"processors": "all"}}]},
        ("c.toml: traces[0]", "'a'", "processors is 'all'", "'requested' or 'allocated'"),
    ),
    (
        {"traces": [{"file": "a.swf", "clean": ["kill"]}]},
        ("c.toml: traces[0]", "'a'", "clean is ['kill']", "a table"),
    ),
    ({"traces": 5}, ("c.toml", "traces is 5", "[[traces]]")),
    ({"traces": ["m"]}, ("c.toml: traces[0]", "'m'", "table")),
    ({"loads": 0.9}, ("c.toml", "loads is 0.9", "list")),
    ({"fairness": "strict"}, ("c.toml", "fairness is 'strict'", "list", "relaxed")),
    ({"fairness": ["fair"]}, ("c.toml", "'fair'", "strict, relaxed")),
    ({"log": 1}, ("c.toml", "log is 1", "true or false")),
    ({"warmup": True}, ("c.toml", "warmup is True", "share", "'2w'")),
    ({"block_seconds": 4000}, ("c.toml", "block_seconds is 4000", "3600 s")),
    ({"sources": {}}, ("c.toml", "unknown key 'sources'")),
    ({"metrics": ["wait"]}, ("c.toml", "'wait'", "in every store")),
    ({"traces": other_trace(name="unfairness_strict")}, ("c.toml", "'unfairness_strict'")),
    ({"metrics": ["p95"]}, ("c.toml", "'p95'", "module:function", "mine:p95_wait")),
    ({"metrics": ["schedfarm.core.metrics.slowdown:TAU"]}, ("c.toml", "TAU", "10", "function")),
    ({"metrics": ["mine:p95"]}, ("c.toml", "'mine'", "mine.py")),
    ({"policies": ["mine:f+easy"]}, ("c.toml", "'mine'", "mine.py")),
    ({"policies": ["saf+easy,backfill=mine:f"]}, ("c.toml", "'mine'", "mine.py")),
    ({"traces": other_trace(platform=POOL)}, ("c.toml", "'m'", "processors", "not both")),
    ({"traces": on(5)}, ("c.toml", "'m'", "platform is 5", "table")),
    ({"traces": on({"name": "pool"})}, ("c.toml", "'m'", "platform=", "configuration")),
    ({"traces": on({**POOL, "name": "pond"})}, ("c.toml", "'m'", "'pond'", "known: pool")),
    (
        {"traces": on({**POOL, "configuration": {"processors": 0}})},
        ("c.toml", "'m'", "processors", "0", "at least 1"),
    ),
    (
        {"traces": on({**POOL, "configuration": {"nodes": 4}})},
        ("c.toml", "'m'", "'pool'", "'nodes'", "it has: processors"),
    ),
]
"""Keys with another value than in the good campaign, and what their refusal names."""


def test_campaign(said: Said) -> None:
    """A wrong key or value is named, with what would be right."""
    assert unlike(CAMPAIGNS, lambda changes: refused(said, **changes)) == []


def test_campaign__missing_key(said: Said) -> None:
    """A key without a default is asked for by name."""
    write({k: v for k, v in GOOD.items() if k != "traces"}, Path("c.toml"))
    assert "c.toml: key 'traces' is missing; it must be one or more [[traces]]" in said(
        "run", "c.toml"
    )


def test_campaign__own_name(said: Said) -> None:
    """What a file beside the campaign does not define is refused when the campaign is read."""
    files = [
        ("def other(): pass", ("c.toml", "mine:f", "'f'")),
        ("def f(:", ("c.toml", "mine:f", "invalid syntax")),
        ("import no_such_thing\ndef f(): pass", ("c.toml", "mine:f", "no_such_thing")),
    ]
    for changes in ({"policies": ["mine:f+easy"]}, {"metrics": ["mine:f"]}):

        def with_file(text: str, changes: dict[str, Any] = changes) -> str:
            Path("mine.py").write_text(text)
            return refused(said, **changes)

        assert unlike(files, with_file) == []


def test_campaign__own_metric_with_a_name_that_is_taken(said: Said) -> None:
    """Metrics stand beside one another and beside the traces in the store."""
    for file in ("mine.py", "other.py"):
        Path(file).write_text("def f(): pass\nwait = m = f\n")
    metrics = [
        (["mine:wait"], ("'mine:wait'", "'wait'", "another name")),
        (["mine:m"], ("'mine:m'", "'m'", "another name")),
        (["mine:f", "other:f"], ("'other:f'", "mine:f", "another name")),
        (["mine:f", "mine:f"], ("'mine:f'", "another name")),
    ]
    assert unlike(metrics, lambda names: refused(said, metrics=names)) == []


def test_campaign__not_toml(said: Said) -> None:
    """A file that is not a campaign at all is named."""
    contents = [
        (b"name = 'x'\nseed = = 3\n", ("c.toml", "line 2")),
        (b"name = '\xff'\n", ("c.toml", "utf-8")),
        (b"\x1f\x8b\x08\x00", ("c.toml",)),
        (b"", ("c.toml", "'name' is missing")),
        (b"a = " + b"[" * 20_000, ("c.toml", "brackets are nested too deeply")),
    ]

    def with_content(content: bytes) -> str:
        Path("c.toml").write_bytes(content)
        return said("run", "c.toml")

    assert unlike(contents, with_content) == []


def test_campaign__missing(said: Said) -> None:
    """A file that is not there is named; a name that nothing ships under lists those that do."""
    assert "none.toml" in said("run", "none.toml")
    assert "quickstart" in said("run", "none")
    Path("folder").mkdir()
    assert "folder" in said("run", "folder")


def on_log(said: Said, content: bytes | None, name: str = "a.swf", **keys: Any) -> str:
    """Return what a campaign on a log of this content is refused with."""
    if content is not None:
        Path(name).write_bytes(content)
    return refused(said, traces=[{"file": name, **keys}])


def test_log(said: Said) -> None:
    """A log is named by its path, and what it lacks by line, key or length."""
    rows = LOG.splitlines(keepends=True)
    rows[6] = rows[6].replace(" -1\n", "\n")
    whole = LOG.encode()
    logs: list[tuple[dict[str, Any], tuple[str, ...]]] = [
        ({"content": None, "name": "none.swf"}, (str(Path("none.swf").resolve()),)),
        ({"content": whole.replace(b"; MaxProcs: 8\n", b"")}, ("a.swf", "processors")),
        ({"content": "".join(rows).encode()}, ("a.swf, line 7", "17 fields", "18")),
        (
            {"content": gzip.compress(whole)[:-20], "name": "a.swf.gz"},
            ("a.swf.gz", "truncated"),
        ),
        ({"content": whole, "rows": [0, 400]}, ("rows=(0, 400)", "29")),
    ]
    assert unlike(logs, lambda given: on_log(said, **given)) == []
