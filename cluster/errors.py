"""The exception for clusters that cannot be used."""


class ClusterError(ValueError):
    """Report in one sentence why a cluster cannot be used."""
