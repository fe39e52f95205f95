"""Several clusters, each job on one of them."""
