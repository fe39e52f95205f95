"""The usual figures of logs, schedules and stores: a row each in `kinds`.

`steps` and `series` compute exact data; the other modules draw them.
"""
