"""What was measured and is quoted by docs/practice.md: docs/practice.json."""

import json
from pathlib import Path
from typing import Any

KEPT = Path(__file__).parents[2] / "docs" / "practice.json"


def read() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    return found


def write(kept: dict[str, Any]) -> None:
    KEPT.write_text(json.dumps(kept, ensure_ascii=False, separators=(",\n", ":")) + "\n", "utf-8")
