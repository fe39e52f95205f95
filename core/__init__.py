"""The simulator: jobs, machines, policies and time, with arrays as input and output."""

from schedfarm.core.engine.fair_start import fair_start_times
from schedfarm.core.engine.promises import promises
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.explanation.explain import Explanation, explain
from schedfarm.core.explanation.matrix import Delays, delays
from schedfarm.core.logs.batsim import write_batsim
from schedfarm.core.logs.clean import Clean
from schedfarm.core.logs.clusters import write_clusters
from schedfarm.core.logs.oar import write_oar
from schedfarm.core.logs.read import read_log, read_swf
from schedfarm.core.logs.swf import write_swf
from schedfarm.core.machines.grid.platform import Grid
from schedfarm.core.machines.network.platform import Network
from schedfarm.core.machines.nodes.platform import Nodes
from schedfarm.core.machines.platform import Platform
from schedfarm.core.machines.pool.platform import Pool
from schedfarm.core.metrics.fairness import (
    resource_equality,
    slips_and_skips,
    summarise_fairness,
    unfairness,
)
from schedfarm.core.metrics.slowdown import bounded_slowdown, pp_bounded_slowdown
from schedfarm.core.metrics.summary import by_origin, summarise
from schedfarm.core.metrics.users import user_waits
from schedfarm.core.metrics.widths import mean_by_width
from schedfarm.core.models import MODELS
from schedfarm.core.models.downey import downey
from schedfarm.core.models.jann import jann
from schedfarm.core.models.lublin import lublin
from schedfarm.core.models.participants import participants
from schedfarm.core.models.poisson import poisson
from schedfarm.core.policy.policy import Policy
from schedfarm.core.schedule import Schedule
from schedfarm.core.stepping.stepping import Stepping
from schedfarm.core.workload.load import offered_load, scale_arrivals, scale_load
from schedfarm.core.workload.resample_blocks import resample_blocks
from schedfarm.core.workload.resample_users import resample_users
from schedfarm.core.workload.resample_weeks import resample_weekly
from schedfarm.core.workload.select import select
from schedfarm.core.workload.workload import Workload

__all__ = [
    "MODELS",
    "Clean",
    "Delays",
    "Explanation",
    "Grid",
    "InputError",
    "Network",
    "Nodes",
    "Platform",
    "Policy",
    "Pool",
    "Schedule",
    "Stepping",
    "Workload",
    "bounded_slowdown",
    "by_origin",
    "delays",
    "downey",
    "explain",
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
    "write_batsim",
    "write_clusters",
    "write_oar",
    "write_swf",
]
