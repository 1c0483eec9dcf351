"""How often a service looks for cyclic garbage, in a process of its own: it holds for the process."""

import subprocess
import sys

LOOK = """
import gc, weakref
from opolyx_servicekit.garbage import collect_seldom

class Cycle:
    def __init__(self):
        self.itself = self

looks = []
gc.callbacks.append(lambda phase, info: looks.append(phase))
collect_seldom()
del looks[:]
in_the_air = [[] for _ in range(15_000)]
print("looks", len(looks))
print("left alone", gc.get_freeze_count() > 1_000)
cycle = weakref.ref(Cycle())
gc.collect()
print("found", cycle() is None)
"""


def test_what_is_in_the_air_is_not_looked_at_and_cycles_are_still_found() -> None:
    child = subprocess.run(
        [sys.executable, "-c", LOOK], capture_output=True, text=True, timeout=60, check=True
    )
    assert child.stdout.split("\n")[:3] == ["looks 0", "left alone True", "found True"]
