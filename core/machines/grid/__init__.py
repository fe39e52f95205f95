"""Grid of several clusters; each job runs on one cluster."""
