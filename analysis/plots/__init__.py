"""The usual figures of logs, schedules and stores, one row each in `kinds`.

`steps` and `series` compute exact data; the other modules draw them.
"""
