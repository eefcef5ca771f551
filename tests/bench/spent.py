"""What processes have spent: processor time and memory, of each with all that it started."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

TICK = 1 / os.sysconf("SC_CLK_TCK")


def processor(pid: int) -> float:
    """Seconds of processor time so far, with those of children that are gone."""
    if pid == os.getpid():
        return time.process_time()
    return sum(sum(map(int, _fields(each)[11:15])) for each in tree(pid)) * TICK


def exactly(*pids: int) -> float:
    """Seconds of processor time of these processes themselves, to the microsecond, with threads that are gone."""
    return sum(time.clock_gettime(~pid << 3 | 2) for pid in pids)  # CPUCLOCK_SCHED of another process: clock_gettime(3)


def memory(pid: int) -> float:
    """MiB that it takes now; what several processes share is counted once."""
    return sum(map(_proportional, tree(pid)))


def resident(pid: int) -> float:
    """MiB of this process alone, with what it shares."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def tree(pid: int) -> Iterator[int]:
    """It and what it started; of this very process itself alone, for it starts what it measures."""
    yield pid
    if pid == os.getpid():
        return
    try:
        tasks = list(Path(f"/proc/{pid}/task").glob("*/children"))
        children = " ".join(task.read_text() for task in tasks).split()
    except OSError:  # it has just ended
        return
    for child in children:
        yield from tree(int(child))


def parent(pid: int) -> int:
    return int(_fields(pid)[1])


def _fields(pid: int) -> list[str]:
    """Of its stat, from the state on."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _proportional(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)
