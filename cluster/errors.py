"""The exception that stands for a cluster that cannot be had."""


class ClusterError(ValueError):
    """Say in one sentence why there is no cluster to work on."""
