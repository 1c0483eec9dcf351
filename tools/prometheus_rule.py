"""Write the PrometheusRule of the manifests out of the rule files that are tested.

`make prometheus-rule`; `--check` only tells whether it differs. kustomize can't wrap a file, and two
copies kept by hand would part.
"""

import argparse
import sys
from pathlib import Path
from typing import Any, Final

import yaml

DEPLOY: Final = Path(__file__).resolve().parents[1] / "deploy"
RULES: Final = DEPLOY / "monitoring" / "alerts"
MANIFEST: Final = DEPLOY / "k8s" / "components" / "monitoring" / "prometheus-rule.yaml"
_HEAD: Final = "# Made by `make prometheus-rule` from deploy/monitoring/alerts: change it there.\n"


def groups() -> list[dict[str, Any]]:
    """The groups of all rule files, in the files' order by name."""
    return [
        group
        for path in sorted(RULES.glob("*.yaml"))
        for group in yaml.safe_load(path.read_text())["groups"]
    ]


def manifest() -> str:
    """The manifest's text."""
    made = {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": "opolyx"},
        "spec": {"groups": groups()},
    }
    return _HEAD + yaml.safe_dump(made, sort_keys=False, width=1_000, allow_unicode=True)


def main() -> int:
    """Write or compare; 1 if the manifest is old."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    made = manifest()
    if not parser.parse_args().check:
        MANIFEST.write_text(made)
    elif not MANIFEST.exists() or MANIFEST.read_text() != made:
        sys.stderr.write("run `make prometheus-rule`: the manifest's rules are old\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
