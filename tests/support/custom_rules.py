"""Built-in rules, written as plug-in rules."""

from collections.abc import Callable

from schedfarm.rule import State, block, earliest, fits, free, reserve, start


def easy(state: State) -> None:
    """Start the jobs that fit; reserve for the first that does not."""
    blocked = False
    for j in state.waiting:
        if fits(state, j):
            start(state, j)
        elif not blocked:
            reserve(state, j, earliest(state, j))
            blocked = True


def conservative(state: State) -> None:
    """Reserve for every job that does not start."""
    for j in state.waiting:
        start_or_reserve(state, j)


def depth_2(state: State) -> None:
    """Reserve for the first two jobs that do not start."""
    held = 0
    for j in state.waiting:
        if held == 2:
            if fits(state, j):
                start(state, j)
        elif not start_or_reserve(state, j):
            held += 1
            if held == 2:
                guard_points(state)


def start_or_reserve(state: State, j: int) -> bool:
    """Start a job at its earliest start, or reserve for it; return whether it started."""
    at = earliest(state, j)
    if at == state.now and state.jobs.procs[j] <= free(state):
        start(state, j)
        return True
    reserve(state, j, at, state.jobs.estimate[j])
    return False


def guard_points(state: State) -> None:
    """Prevent backfills across the start of a reservation without a duration."""
    for j in state.waiting:
        if state.jobs.estimate[j] == 0 and state.book.reserved[j] >= 0:
            block(state, state.book.reserved[j], 1, state.jobs.procs[j])


def _plain(function: Callable[[State], None]) -> Callable[[State], None]:
    def rule(state: State) -> None:
        function(state)

    rule.compiled = False  # type: ignore[attr-defined]
    return rule


easy_plain, conservative_plain, depth_2_plain = map(_plain, (easy, conservative, depth_2))
