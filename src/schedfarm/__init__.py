"""schedfarm: experiments on parallel job scheduling, from one simulation to a whole campaign.

Each public name is imported from its package when it is first used, so that ``import schedfarm``
takes only a tenth of a second. The names are in ``__init__.pyi``.

Examples
--------
>>> import schedfarm as sf
>>> jobs = dict(submit=[0, 0, 0], run=[60, 60, 9], estimate=[60, 60, 9], procs=[3, 3, 1])
>>> workload = sf.Workload.from_columns(**jobs, processors=4)
>>> sf.simulate(workload, "fcfs+easy").start.tolist()
[0, 60, 0]
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
