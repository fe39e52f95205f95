"""Jobs, machines, policies and time: the simulator, arrays in and arrays out.

The names below are the door of the package; everything else is a room behind it.
"""

from core.errors import InputError
from core.load import offered_load, scale_load
from core.logs import read_log
from core.metrics import bounded_slowdown, pp_bounded_slowdown, summarise
from core.models.lublin import lublin
from core.policy import Policy
from core.resample import resample_weekly
from core.schedule import Schedule
from core.simulate import simulate
from core.swf import read_swf, write_swf
from core.workload import Workload

__all__ = [
    "InputError",
    "Policy",
    "Schedule",
    "Workload",
    "bounded_slowdown",
    "lublin",
    "offered_load",
    "pp_bounded_slowdown",
    "read_log",
    "read_swf",
    "resample_weekly",
    "scale_load",
    "simulate",
    "summarise",
    "write_swf",
]
