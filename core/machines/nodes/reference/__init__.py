"""Reference of nodes: the rules, the plan, and the shelves of `demt`."""
