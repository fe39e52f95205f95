"""A pool whose jobs request several resources: processors, GPUs, memory, licences, watts."""
