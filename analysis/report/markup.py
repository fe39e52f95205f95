"""The page of a store as HTML; every text of a store or campaign is escaped."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from typing import Any

from schedfarm.analysis.place import StoreName
from schedfarm.analysis.report.contents import Asked, Contents, contents
from schedfarm.analysis.report.figures import Figure, figures
from schedfarm.analysis.report.script import check_script, script
from schedfarm.core.files import write_whole
from schedfarm.core.numerals import counted, grouped

HERE = Path(__file__).parent

HEAD_BYTES = 4096
"""Number of bytes that contain a page's head up to the title."""

FIRST_METRICS = 2
"""Number of metrics with visible verdicts; the other verdicts are folded."""

GENERATOR = '<meta name="generator" content="schedfarm">'
"""Mark of a page, which tells a later command that it may replace the file."""

ICON = '<link rel="icon" href="data:,">'
"""An empty icon, since browsers otherwise request an icon from a server."""

FILTERS = ("metric", "trace", "load", "policy")
"""Controls of the page, in order."""


def write(
    store: StoreName,
    out: str | os.PathLike[str],
    asked: Asked | None = None,
    *,
    progress: Mapping[str, Any] | None = None,
    refresh: float | None = None,
) -> None:
    """Write the page of a store as a whole.

    Parameters
    ----------
    store : path
        The store's folder or address.
    out : path
        The file, such as ``page.html``; an existing file is replaced.
    asked : Asked, optional
        Policies, metrics, level and groups; by default the defaults of `compare`.
    progress : mapping, optional
        Failed cells (``failures``) and hosts with versions (``origins``), as in the output of `farm
        status --json`.
    refresh : float, optional
        Seconds after which an open page reloads, for a run in progress.

    Raises
    ------
    StoreError
        If the store cannot be read, a name is unknown, or the scripts of Vega are not installed.

    Examples
    --------
    >>> write("no/such/folder", "page.html")
    Traceback (most recent call last):
    ...
    schedfarm.analysis.errors.StoreError: store 'no/such/folder' is not a folder; name one that farm
    run wrote
    """
    check_script()
    text = page(contents(store, asked or Asked(), progress), refresh=refresh)
    write_whole(Path(out), text.encode())


def is_page(path: Path) -> bool:
    """Return whether a file is the page of any store."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    # Pages of earlier programs have only the icon.
    return GENERATOR.encode() in head or ICON.encode() in head


def page(of: Contents, *, refresh: float | None = None) -> str:
    """Return the HTML of a page."""
    drawn = figures(of.axes["policy"], of.baseline, of.by, of.felt)
    styles = (HERE / "page.css").read_text(encoding="utf-8")
    scripts = [script(), (HERE / "page.js").read_text(encoding="utf-8")]
    policy = "; ".join([
        "default-src 'none'",
        f"script-src {' '.join(map(_hash, scripts))}",
        f"style-src {_hash(styles)}",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ])  # fmt: skip
    title = f"{of.title}: policies compared"
    return "\n".join([
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        GENERATOR,
        f"<title>{escape(title)}</title>",
        ICON,
        f"<style>{styles}</style>",
        "</head>",
        "<body>",
        '<a class="skip" href="#verdicts">Skip to the verdicts</a>',
        *_header(of, refresh),
        "<main>",
        *_distance(of),
        *_verdicts(of),
        *_controls(of),
        *(line for one in drawn if of.tables[one.table].rows for line in _figure(one, of)),
        *_tables(of),
        *_provenance(of),
        "</main>",
        f'<script type="application/json" id="data">{_inert(_data(of, drawn, refresh))}</script>',
        *(f"<script>{text}</script>" for text in scripts),
        "</body>",
        "</html>",
        "",
    ])  # fmt: skip


def _hash(text: str) -> str:
    """Return the source expression of an inline script or style for a content security policy."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _inert(data: Any) -> str:
    """Return JSON in which no text can end the surrounding HTML element."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _data(of: Contents, drawn: Iterable[Figure], refresh: float | None) -> dict[str, Any]:
    return {
        "axes": of.axes,
        "metrics": of.metrics,
        "baseline": of.baseline,
        "by": of.by,
        "level": of.level,
        "refresh": refresh,
        "tables": {name: table.plain() for name, table in of.tables.items()},
        "figures": [one.plain() for one in drawn if of.tables[one.table].rows],
    }


def _header(of: Contents, refresh: float | None) -> list[str]:
    n = of.progress
    state = f"{counted(n['cells'], 'cell')}: {grouped(n['done'])} done"
    state += "".join(f", {grouped(n[key])} {key}" for key in ("failed", "missing") if n[key])
    lines = [
        "<header>",
        f"<h1>{escape(of.title)}</h1>",
        f'<p id="state">{escape(state)}.</p>',
    ]
    if refresh is not None:
        lines.append(
            '<p class="problem">A run is in progress: the numbers are preliminary. '
            f"This page loads itself again every {refresh:g} s. "
            '<button type="button" id="pause" aria-pressed="false">Pause</button></p>'
        )
    return [*lines, "</header>"]


def _distance(of: Contents) -> list[str]:
    return [
        '<section aria-labelledby="near">',
        '<h2 id="near">How near is the simulation to the log?</h2>',
        *_list(of.near),
        _command(of, "near"),
        "</section>",
    ]


def _verdicts(of: Contents) -> list[str]:
    lines = ['<section aria-labelledby="verdicts">', '<h2 id="verdicts">Verdicts</h2>']
    lines += [f'<p class="problem">{escape(text)}.</p>' for text in of.problems]
    if of.verdicts:
        first = FIRST_METRICS * max(len(of.verdicts) // max(len(of.metrics), 1), 1)
        lines += _list(of.verdicts[:first])
        if of.verdicts[first:]:
            lines += ["<details><summary>Further metrics</summary>"]
            lines += [*_list(of.verdicts[first:]), "</details>"]
        lines += [_command(of, "compare")]
    if of.warnings:
        lines += ['<h3 id="warnings">Warnings</h3>', *_list(of.warnings, "warnings")]
    return [*lines, "</section>"]


def _list(sentences: Iterable[str], kind: str = "plain") -> list[str]:
    return [f'<ul class="{kind}">', *(f"<li>{_whole(one)}</li>" for one in sentences), "</ul>"]


NUMBER = re.compile(r"(?<=\d) (?=\d{3}(?!\d)|%)")
"""Space within a number, or between a number and its per cent sign."""


def _whole(sentence: str) -> str:
    """Return a sentence as HTML without line breaks within numbers."""
    return NUMBER.sub("\N{NO-BREAK SPACE}", escape(sentence))


def _command(of: Contents, name: str) -> str:
    return f'<p class="command">These numbers: <code>{escape(of.commands[name])}</code></p>'


def _controls(of: Contents) -> list[str]:
    lines = [
        '<form id="filters" aria-label="Filters of figures and tables">',
        "<fieldset><legend>Show</legend>",
    ]
    lines += [
        f'<span class="one"><label for="by-{axis}">{axis}</label>'
        f'<select id="by-{axis}" name="{axis}"></select></span>'
        for axis in FILTERS
    ]
    # Announcements, such as of sorting, must not replace the selection that is printed.
    status = '<p id="status" role="status" aria-live="polite"></p>'
    return [*lines, "</fieldset></form>", '<p id="selection"></p>', status]


def _figure(one: Figure, of: Contents) -> list[str]:
    name = one.name
    return [
        f'<figure id="figure-{name}" aria-labelledby="title-{name}">',
        f'<figcaption><h2 id="title-{name}">{escape(one.title)}</h2>'
        f"<p>{escape(one.meaning)}</p></figcaption>",
        f'<div class="canvas" id="canvas-{name}"></div>',
        f'<p class="summary" id="summary-{name}"></p>',
        _command(of, one.command),
        "</figure>",
    ]


TABLES = {
    "comparison": ("Comparison by trace and load", "compare", True),
    "levels": ("Values by load, as a table", "bands", False),
    "samples": ("Change in each sample, as a table", "compare", False),
    "groups": ("Gains and losses", "groups", True),
    "near": ("Simulated and logged waits", "near", True),
    "weeks": ("Waits by week, as a table", "near", False),
    "failed": ("Failed cells", "status", True),
    "missing": ("Missing cells", "status", True),
}
"""Title and command of each table of a page, and whether it is open; the others have figures."""


def _tables(of: Contents) -> list[str]:
    lines = []
    for name, (title, command, is_open) in TABLES.items():
        if not of.tables[name].rows:
            continue
        heading = f'<h2 id="title-table-{name}">{title}</h2>'
        begin, end = (
            (heading, "") if is_open else (f"<details><summary>{heading}</summary>", "</details>")
        )
        lines += [
            f'<section aria-labelledby="title-table-{name}">',
            begin,
            f'<div class="wide" id="table-{name}" role="region" tabindex="0" '
            f'aria-labelledby="title-table-{name}"></div>',
            _command(of, command),
            end,
            "</section>",
        ]
    return lines


def _provenance(of: Contents) -> list[str]:
    lines = [
        '<section aria-labelledby="provenance">',
        '<h2 id="provenance">Provenance</h2>',
        "<dl>",
        *(
            f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>"
            for name, value in of.facts
        ),
        "</dl>",
        "<details><summary>The campaign</summary>",
        f"<pre>{escape(of.campaign)}</pre>",
        "</details>",
        f'<p class="command">All data checked, cells simulated again: '
        f"<code>{escape(of.commands['verify'])}</code></p>",
        "<noscript><p>Figures and tables need JavaScript, which is in this file.</p></noscript>",
    ]
    return [*lines, "</section>"]
