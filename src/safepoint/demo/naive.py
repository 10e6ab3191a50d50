"""The agent as people write it today: it saves how far it got, and goes on from there (a process of its own).

Its checkpoints are v2 records, the shape that such agents have: nothing in them is wrong, and nothing in them tells
whether the notification was sent.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import time
from pathlib import Path
from typing import Any

from safepoint.core.timestamp import format_time
from safepoint.demo.post import RUN_ID, notification, send, set_status


def save(checkpoints: Path, number: int, state: str, step: str, *, sent: bool) -> None:
    """Append one checkpoint."""
    record: dict[str, Any] = {
        "checkpointId": f"cp_{number:02}",
        "runId": RUN_ID,
        "state": state,
        "stepName": step,
        "schemaVersion": "v2",
        "inputSnapshot": {"post": 42},
        "artifactRefs": [],
        "sideEffectStatus": {"writePerformed": sent, "externalMessageSent": sent},
        "createdAt": format_time(time.time_ns()),
    }
    with checkpoints.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record, separators=(",", ":")) + "\n")


def main() -> None:
    """Draft and get approved, or go on from the last checkpoint."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("website", type=Path)
    parser.add_argument("port", type=int)
    parser.add_argument("--die-after-send", action="store_true")
    given = parser.parse_args()
    checkpoints = given.folder / "checkpoints.jsonl"
    if not checkpoints.exists():
        save(checkpoints, 1, "drafted", "draft", sent=False)
        save(checkpoints, 2, "approved", "approve", sent=False)
    last = json.loads(checkpoints.read_text(encoding="utf-8").splitlines()[-1])
    if last["state"] == "approved":
        send(notification(), given.port)
        if given.die_after_send:
            os.kill(os.getpid(), signal.SIGKILL)
        set_status(given.website, "published")
        save(checkpoints, 3, "published", "update_status", sent=True)


if __name__ == "__main__":
    main()
