"""Jobs, machines, policies and time: the simulator, arrays in and arrays out.

The names below are the door of the package; everything else is a room behind it.
"""

from core.errors import InputError
from core.fairness import (
    resource_equality,
    slips_and_skips,
    summarise_fairness,
    unfairness,
)
from core.fst import fair_start_times
from core.load import offered_load, scale_arrivals, scale_load
from core.logs import read_log
from core.metrics import summarise
from core.models import MODELS
from core.models.downey import downey
from core.models.jann import jann
from core.models.lublin import lublin
from core.models.poisson import poisson
from core.policy import Policy
from core.resample import resample_weekly
from core.resample_users import resample_users
from core.schedule import Schedule
from core.select import select
from core.simulate import simulate
from core.slowdown import bounded_slowdown, pp_bounded_slowdown
from core.swf import read_swf, write_swf
from core.user_fairness import user_waits
from core.widths import mean_by_width
from core.workload import Workload

__all__ = [
    "MODELS",
    "InputError",
    "Policy",
    "Schedule",
    "Workload",
    "bounded_slowdown",
    "downey",
    "fair_start_times",
    "jann",
    "lublin",
    "mean_by_width",
    "offered_load",
    "poisson",
    "pp_bounded_slowdown",
    "read_log",
    "read_swf",
    "resample_users",
    "resample_weekly",
    "resource_equality",
    "scale_arrivals",
    "scale_load",
    "select",
    "simulate",
    "slips_and_skips",
    "summarise",
    "summarise_fairness",
    "unfairness",
    "user_waits",
    "write_swf",
]
