"""Other simulators on the same log: speed, and the audit's verdict on their schedules."""
