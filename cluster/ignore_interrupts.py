"""Preloaded by local workers: a terminal's Ctrl-C is the coordinator's to act on, not theirs."""

from __future__ import annotations

import signal
import threading

if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
