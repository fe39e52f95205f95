"""Write workloads with known schedules, for authors of other schedulers and simulators.

    python -m tests.oracles.vectors

writes docs/vectors/*.json: the hand-written cases, and draws of a model under the usual policies.
Each schedule must be that of the kernel and of the reference, and the audit must accept it.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from schedfarm.core.audit import audit
from schedfarm.core.audit.kinds import KINDS
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.models import lublin
from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference.loop import simulate_reference
from schedfarm.core.workload.columns import COLUMNS
from schedfarm.core.workload.workload import Workload
from tests.oracles.cases import CASES
from tests.support.paths import DOCS

FOLDER = DOCS / "vectors"

FORMAT = "schedfarm-vectors 2"

DRAWN = "lublin"
"""Name of the file with draws of a model."""

DRAWS = (
    ((64, 0.8, 1), "fcfs", ("none", "aggressive", "easy", "depth(2)", "conservative")),
    ((64, 1.0, 2), "fcfs", ("none", "aggressive", "easy", "depth(2)", "conservative")),
    ((128, 0.9, 3), "spf", ("none", "easy", "conservative")),
    ((128, 0.9, 4), "saf", ("none", "easy", "conservative")),
)
"""Processors, load and seed of a model's draw, an order, and rules."""

IDENTITY = ("policy", "machine", "epoch", "jobs")
"""Keys that a vector's id is a digest of, so that it stays when others are added."""

JOBS = 250
"""Jobs of a draw."""

CLOCKS = {"instant": "", "per-event": ",events=per-event"}
"""Clocks by name, and the option that selects each."""


def sha256(content: object) -> str:
    """Return the digest of plain values: of their JSON with sorted keys."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def jobs_of(work: Workload) -> dict[str, list[int]]:
    """Return the columns of jobs that a simulation depends on, without those of defaults only."""
    count = len(work)
    return {
        name: getattr(work, name).tolist()
        for name, row in COLUMNS.items()
        if row.default is None or (getattr(work, name) != row.default(count)).any()
    }


def vector(
    claim: str, work: Workload, policy: Policy, source: str, proofs: list[str]
) -> dict[str, Any]:
    """Return a workload, a policy and its starts, proven by the programs of this project."""
    schedule = simulate(work, policy)
    starts = schedule.start.tolist()
    if simulate_reference(work, policy).start.tolist() != starts:
        raise ValueError(f"{claim}, {policy.name}: the reference has other starts")
    verdict = audit(schedule, policy)
    if not verdict.ok:
        raise ValueError(f"{claim}, {policy.name}: {verdict.why}")
    judged = KINDS[work.platform.name]().judges(policy)
    found = {
        "claim": claim,
        "policy": policy.name,
        "clock": policy.events,
        "machine": work.platform.to_dict(),
        "epoch": work.epoch,
        "jobs": jobs_of(work),
        "starts": starts,
        "source": source,
        "proven": [*proofs, "kernel", "reference", *(["audit"] if judged else [])],
    }
    name = sha256([found[key] for key in IDENTITY])[:10]
    named = {"id": f"{work.platform.name}-{name}", **found}
    return {**named, "sha256": sha256(named)}


def by_hand(platform: str) -> Iterator[dict[str, Any]]:
    """Yield the hand-written cases of a platform, without those of plug-ins."""
    for case in CASES[platform]:
        if re.search(r":[a-z_]", case.policy):  # A module and a name, not `weights=1:0:0:1`.
            continue
        found = vector(
            case.name, case.work, case.parsed, f"docs/semantics.md, {case.source}", ["by hand"]
        )
        if found["starts"] != case.starts:
            raise ValueError(f"{case}: the kernel starts its jobs at {found['starts']}")
        yield found


def drawn() -> Iterator[dict[str, Any]]:
    """Yield draws of the Lublin-Feitelson model under several rules and both clocks."""
    for (processors, load, seed), order, rules in DRAWS:
        work = lublin(processors, jobs=JOBS, seed=seed, load=load)
        claim = f"Lublin-Feitelson, {processors} processors, load {load}, seed {seed}"
        for rule, clock in product(rules, CLOCKS.values()):
            policy = Policy.parse(f"{order}+{rule}{clock}")
            yield vector(claim, work, policy, "docs/semantics.md", [])


def files() -> Mapping[str, dict[str, Any]]:
    """Return the contents of all files, by name."""
    lists = {**{platform: by_hand(platform) for platform in CASES}, DRAWN: drawn()}
    # Two spellings of one policy are one vector.
    return {
        name: {"format": FORMAT, "vectors": list({one["id"]: one for one in found}.values())}
        for name, found in lists.items()
    }


def text_of(content: Mapping[str, Any]) -> str:
    """Return a file's text: a vector a line, so that differences are readable."""
    lines = ",\n".join(json.dumps(one) for one in content["vectors"])
    return f'{{"format": "{content["format"]}", "vectors": [\n{lines}\n]}}\n'


def path_of(name: str) -> Path:
    """Return where a file is."""
    return FOLDER / f"{name}.json"


def main() -> int:
    for name, content in files().items():
        path_of(name).write_text(text_of(content), encoding="utf-8")
        sys.stdout.write(f"{path_of(name).name}: {len(content['vectors'])} vectors\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
