"""The alert rules in quick motion: made from the real ones, so that minutes don't have to pass.

Every duration of an expression is a sixtieth of what it was, within bounds that a Prometheus which
scrapes every other second can use. Nothing else is changed: thresholds are the real ones.
"""

import re
from pathlib import Path
from typing import Any, Final

import yaml

_FACTOR: Final = 60
_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_WINDOW: Final = re.compile(r"(\[|\boffset )(\d+)([smhd])")
_DURATION: Final = re.compile(r"(\d+)([smhd])")
_SHORTEST_WINDOW_S: Final = 8
_LONGEST_WINDOW_S: Final = 20
_LONGEST_FOR_S: Final = 2


def scaled_rules(text: str) -> str:
    """A rule file, in quick motion."""
    document = yaml.safe_load(text)
    for group in document["groups"]:
        for rule in group["rules"]:
            rule["expr"] = scaled_expression(rule["expr"])
            if "for" in rule:
                rule["for"] = f"{_scaled_s(rule['for'], 1, _LONGEST_FOR_S)}s"
    made: str = yaml.safe_dump(document)
    return made


def scaled_expression(expr: str) -> str:
    """An expression with short windows and offsets."""

    def short(found: re.Match[str]) -> str:
        seconds = _scaled_s(found[2] + found[3], _SHORTEST_WINDOW_S, _LONGEST_WINDOW_S)
        return f"{found[1]}{seconds}s"

    return _WINDOW.sub(short, expr)


def scaled_configuration(text: str, folder: Path) -> str:
    """A configuration that scrapes every other second, and evaluates every second.

    Rules are read from `folder`, and the targets of a job from `<job>.json` there.
    """
    document: dict[str, Any] = yaml.safe_load(text)
    document["global"] = {
        "scrape_interval": "2s",
        "scrape_timeout": "2s",
        "evaluation_interval": "1s",
    }
    document["rule_files"] = [str(folder / "*.rules.yaml")]
    for job in document["scrape_configs"]:
        del job["static_configs"]
        job["file_sd_configs"] = [{"files": [str(folder / f"{job['job_name']}.json")]}]
    made: str = yaml.safe_dump(document)
    return made


def _scaled_s(duration: str, shortest_s: int, longest_s: int) -> int:
    found = _DURATION.fullmatch(duration)
    if found is None:
        raise ValueError(f"{duration!r} is no duration that rules here use")
    return min(max(int(found[1]) * _UNITS[found[2]] // _FACTOR, shortest_s), longest_s)
