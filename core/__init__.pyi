from .engine.fair_start import fair_start_times as fair_start_times
from .engine.promises import promises as promises
from .engine.simulate import simulate as simulate
from .errors import InputError as InputError
from .explanation.explain import (
    Explanation as Explanation,
    explain as explain,
)
from .explanation.matrix import (
    Delays as Delays,
    delays as delays,
)
from .logs.batsim import write_batsim as write_batsim
from .logs.clean import Clean as Clean
from .logs.clusters import write_clusters as write_clusters
from .logs.oar import write_oar as write_oar
from .logs.read import (
    read_log as read_log,
    read_swf as read_swf,
)
from .logs.swf import write_swf as write_swf
from .machines.grid.platform import Grid as Grid
from .machines.network.platform import Network as Network
from .machines.nodes.platform import Nodes as Nodes
from .machines.platform import Platform as Platform
from .machines.pool.platform import Pool as Pool
from .metrics.fairness import (
    resource_equality as resource_equality,
    slips_and_skips as slips_and_skips,
    summarise_fairness as summarise_fairness,
    unfairness as unfairness,
)
from .metrics.slowdown import (
    bounded_slowdown as bounded_slowdown,
    pp_bounded_slowdown as pp_bounded_slowdown,
)
from .metrics.summary import (
    by_origin as by_origin,
    summarise as summarise,
)
from .metrics.users import user_waits as user_waits
from .metrics.widths import mean_by_width as mean_by_width
from .models import MODELS as MODELS
from .models.downey import downey as downey
from .models.jann import jann as jann
from .models.lublin import lublin as lublin
from .models.participants import participants as participants
from .models.poisson import poisson as poisson
from .policy.policy import Policy as Policy
from .schedule import Schedule as Schedule
from .stepping.stepping import Stepping as Stepping
from .workload.load import (
    offered_load as offered_load,
    scale_arrivals as scale_arrivals,
    scale_load as scale_load,
)
from .workload.resample_blocks import resample_blocks as resample_blocks
from .workload.resample_users import resample_users as resample_users
from .workload.resample_weeks import resample_weekly as resample_weekly
from .workload.select import select as select
from .workload.workload import Workload as Workload
