"""Jobs, machines, policies and time: the simulator, arrays in and arrays out.

The names below are the door of the package; everything else is a room behind it.
"""

from core.errors import InputError
from core.logs.clean import Clean
from core.logs.clusters import write_clusters
from core.logs.oar import write_oar
from core.logs.read import read_log
from core.logs.swf import read_swf, write_swf
from core.metrics.fairness import (
    resource_equality,
    slips_and_skips,
    summarise_fairness,
    unfairness,
)
from core.metrics.slowdown import bounded_slowdown, pp_bounded_slowdown
from core.metrics.summary import by_origin, summarise
from core.metrics.users import user_waits
from core.metrics.widths import mean_by_width
from core.models import MODELS
from core.models.downey import downey
from core.models.jann import jann
from core.models.lublin import lublin
from core.models.participants import participants
from core.models.poisson import poisson
from core.platform.grid import Grid
from core.platform.network import Network
from core.platform.nodes import Nodes
from core.platform.platform import Platform
from core.platform.pool import Pool
from core.policy.policy import Policy
from core.schedule import Schedule
from core.simulation.fair_start import fair_start_times
from core.simulation.promises import promises
from core.simulation.simulate import simulate
from core.workload.load import offered_load, scale_arrivals, scale_load
from core.workload.resample_blocks import resample_blocks
from core.workload.resample_users import resample_users
from core.workload.resample_weeks import resample_weekly
from core.workload.select import select
from core.workload.workload import Workload

__all__ = [
    "MODELS",
    "Clean",
    "Grid",
    "InputError",
    "Network",
    "Nodes",
    "Platform",
    "Policy",
    "Pool",
    "Schedule",
    "Workload",
    "bounded_slowdown",
    "by_origin",
    "downey",
    "fair_start_times",
    "jann",
    "lublin",
    "mean_by_width",
    "offered_load",
    "participants",
    "poisson",
    "pp_bounded_slowdown",
    "promises",
    "read_log",
    "read_swf",
    "resample_blocks",
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
    "write_clusters",
    "write_oar",
    "write_swf",
]
