"""Pool with several resources: processors, GPUs, memory, licences, watts."""
