"""The simulator: jobs, machines, policies and time, with arrays as input and output.

Each name is imported at its first use. All names are listed in ``__init__.pyi``.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
