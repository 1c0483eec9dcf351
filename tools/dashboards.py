"""Write deploy/monitoring/dashboards from `dashboard_panels`; `--check` only tells what differs."""

import argparse
import json
import sys
from pathlib import Path
from typing import Final

from dashboard_panels import DASHBOARDS
from dashboard_queries import Dashboard, Panel

FOLDER: Final = Path(__file__).resolve().parents[1] / "deploy/monitoring/dashboards"

_SOURCE: Final = {"type": "prometheus", "uid": "${source}"}
_WIDTH: Final = 12
_HEIGHT: Final = 8


def main() -> int:
    """Write, or with `--check` compare; 1 if something differs."""
    parser = argparse.ArgumentParser(prog="make dashboards", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing")
    check = parser.parse_args().check
    differing = 0
    for dashboard in DASHBOARDS:
        path, text = FOLDER / f"{dashboard.name}.json", document_of(dashboard)
        if check and (not path.exists() or path.read_text() != text):
            print(f"{path.name} differs: run `make dashboards`")
            differing += 1
        elif not check:
            FOLDER.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return 1 if differing else 0


def document_of(dashboard: Dashboard) -> str:
    """Grafana's JSON of a dashboard."""
    document = {
        "uid": f"opolyx-{dashboard.name}",
        "title": dashboard.title,
        "tags": ["opolyx"],
        "schemaVersion": 39,
        "editable": False,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "templating": {
            "list": [
                {"name": "source", "label": "Source", "type": "datasource", "query": "prometheus"}
            ]
        },
        "links": [
            {"title": "opolyx", "type": "dashboards", "tags": ["opolyx"], "asDropdown": True}
        ],
        "panels": [_panel(number, panel) for number, panel in enumerate(dashboard.panels)],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _panel(number: int, panel: Panel) -> dict[str, object]:
    row, column = divmod(number, 24 // _WIDTH)
    return {
        "id": number + 1,
        "title": panel.title,
        "description": panel.help,
        "type": "timeseries",
        "datasource": _SOURCE,
        "gridPos": {"x": column * _WIDTH, "y": row * _HEIGHT, "w": _WIDTH, "h": _HEIGHT},
        "fieldConfig": {
            "defaults": {"unit": panel.unit, "min": 0, "custom": {"fillOpacity": 10}},
            "overrides": [],
        },
        "options": {
            "legend": {"displayMode": "list", "placement": "bottom"},
            "tooltip": {"mode": "multi", "sort": "desc"},
        },
        "targets": [
            {"refId": chr(ord("A") + place), "expr": expr, "legendFormat": legend, "range": True}
            for place, (expr, legend) in enumerate(panel.queries)
        ],
    }


if __name__ == "__main__":
    sys.exit(main())
