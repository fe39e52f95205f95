"""The usual pictures of logs, schedules and stores: a row each in `kinds`.

`steps` and `series` hold the data, exactly; the other modules draw them.
"""
