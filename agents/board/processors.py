"""How many processors this process may use, containers and affinity considered."""

import math
import os
from contextlib import suppress
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")


def processors(cgroups: Path = CGROUPS) -> int:
    """Count the processors that this process may use.

    Args:
        cgroups: folder in which Linux says what share of the processors a container may use.
    """
    count = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):  # not on macOS and Windows
        count = len(os.sched_getaffinity(0))
    quota = _quota(cgroups)
    return count if quota is None else max(1, min(count, math.ceil(quota)))


def _quota(cgroups: Path) -> float | None:
    """Read a container's quota of processors from cgroups, version 2 or 1; None if unlimited."""
    for names in (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):
        with suppress(OSError, ValueError):  # no such file, or no number: "max"
            texts = " ".join((cgroups / name).read_text(encoding="utf-8") for name in names)
            quota, period = map(int, texts.split())
            if quota > 0 and period > 0:  # -1 is for no quota
                return quota / period
    return None
