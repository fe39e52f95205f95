"""Clock, queue, orders, passes and plans of every machine, and how numba compiles them."""
