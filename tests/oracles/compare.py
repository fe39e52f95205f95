"""Compare kernels, reference and audit on random small workloads.

    python -m tests.oracles.compare [PLATFORM ...] --cases 1000 --seed 1

tries as many workloads with every rule of each platform, each with every order that goes with the
rule; prints the smallest workload on which two programs differ, and then exits with 1.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from typing import NamedTuple

from hypothesis import HealthCheck, Phase, assume, given, seed, settings, strategies as st

from schedfarm.core.audit import audit
from schedfarm.core.audit.kinds import KINDS
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference.loop import simulate_reference
from schedfarm.core.workload.workload import Workload
from tests.oracles.programs import by_seconds, described, kernel, moved, reference
from tests.support.strategies import RULES, every_order, is_close_call, policies, workloads_on


class Trial(NamedTuple):
    """A workload, and policies to try it with."""

    work: Workload
    policies: list[Policy]

    def __repr__(self) -> str:
        return f"{described(self.work)}\n{', '.join(one.name for one in self.policies)}"


@st.composite
def trials(draw: st.DrawFn, platform: str, rule: str) -> Trial:
    """Draw a workload, and options that go with every order of a rule."""
    policies = draw(every_order(platform, rule))
    return Trial(draw(workloads_on(platform, policies[0])), policies)


def check(work: Workload, policy: Policy) -> None:
    """Assert that all programs agree, unless the last place of a float decides: none is wrong."""
    found = {"kernel": kernel(work, policy), "reference": reference(work, policy)}
    if (seconds := by_seconds(work, policy)) is not None:
        found["by seconds"] = seconds
    first, *others = found.values()
    if any(other != first for other in others):
        if is_close_call(simulate_reference(work, policy), policy):
            return
        differing = [f"{name}: {_differing(first, told)}" for name, told in found.items()]
        raise AssertionError("\n".join([policy.name, described(work), *differing]))
    verdict = audit(simulate(work, policy), policy)
    if not verdict.ok and not is_close_call(simulate_reference(work, policy), policy):
        raise AssertionError("\n".join([policy.name, described(work), f"audit: {verdict.why}"]))
    kind = KINDS[work.platform.name]()
    assert verdict.checked == (*kind.checks, *([policy.name] if kind.judges(policy) else []))


def _differing(first: dict[str, object], told: dict[str, object]) -> dict[str, object]:
    return {name: told[name] for name in told if told[name] != first[name]} or first


def check_all(trial: Trial) -> None:
    """Assert that all programs agree on a workload under each of some policies."""
    for policy in trial.policies:
        check(trial.work, policy)


def check_moved(data: st.DataObject, platform: str, rule: str) -> None:
    """Assert that the audit names a job that is moved by some seconds, and the first instant."""
    policy = data.draw(policies(rule=rule, platform=platform))
    good = simulate(data.draw(workloads_on(platform, policy).filter(len)), policy)
    shift = data.draw(st.sampled_from((-3600, -9, -3, -1, 1, 2, 9, 3600)))
    job = data.draw(st.integers(0, len(good.workload) - 1))
    old = int(good.start[job])
    assume(old >= 0 and old + shift >= 0)
    verdict = audit(moved(good, job, shift), policy)
    assert not verdict.ok
    assert (verdict.job, verdict.instant) == (job, min(old, old + shift)), verdict.why


def try_cases(
    description: str,
    cases: Callable[[int, int], Iterator[tuple[Workload, Policy]]],
    arguments: list[str],
    changed: Callable[[Workload, Policy], int] = lambda work, policy: 0,
) -> int:
    """Check --cases cases of --seed; print the first that differs; return the exit status.

    `changed` counts the jobs of a case on which the tested feature has an effect.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(arguments)
    jobs = others = 0
    for work, policy in cases(asked.cases, asked.seed):
        try:
            check(work, policy)
        except AssertionError:
            sys.stdout.write(f"{policy.name}\n{described(work)}\n{traceback.format_exc()}\n")
            return 1
        jobs, others = jobs + len(work), others + changed(work, policy)
    effect = f"; {others} start otherwise" * bool(others)
    sys.stdout.write(f"{asked.cases} cases with {jobs} jobs agree{effect}\n")
    return 0


def differences(platform: str, cases: int, first: int) -> Iterator[str]:
    """Yield the smallest difference of each rule of a platform on which one is found."""
    for rule in RULES[platform]:
        many = settings(
            max_examples=cases,
            deadline=None,
            derandomize=False,
            database=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=[*HealthCheck],
        )
        try:
            seed(first)(many(given(trials(platform, rule))(check_all)))()
        except Exception as error:  # Whatever goes wrong is a difference to show.
            yield f"{rule} on a {platform}\n{''.join(traceback.format_exception_only(error))}"


def main() -> int:
    """Compare as the command line says; return 1 if anything differs."""
    parser = argparse.ArgumentParser(
        description=str(__doc__), formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("platforms", nargs="*", metavar="PLATFORM", help=", ".join(RULES))
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    told = parser.parse_args()
    if unknown := {*told.platforms} - RULES.keys():
        parser.error(f"{', '.join(sorted(unknown))}: no such platform; known: {', '.join(RULES)}")
    began, count = time.perf_counter(), 0
    for platform in told.platforms or RULES:
        for difference in differences(platform, told.cases, told.seed):
            count += 1
            sys.stdout.write(f"{difference}\n")
    spent = time.perf_counter() - began
    sys.stdout.write(
        f"{told.cases} workloads of seed {told.seed} for each rule: {count} rules differ, "
        f"{spent:.0f} s\n"
    )
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
