"""Reasons for the start of a job, and the jobs that delayed it."""

from schedfarm.core.explanation.causes import CauseSet
from schedfarm.core.explanation.explain import Explanation, Other, explain
from schedfarm.core.explanation.matrix import Delays, delays
from schedfarm.core.explanation.situation import Held

__all__ = ["CauseSet", "Delays", "Explanation", "Held", "Other", "delays", "explain"]
