"""What both agents of the demo publish, the mail that they send, the website, and the policy of their project."""

from __future__ import annotations

import json
import smtplib
from collections.abc import Mapping
from email.message import EmailMessage
from pathlib import Path
from typing import Any

from safepoint.demo.mailbox import HOST

RUN_ID = "publish-42"
KEY = f"{RUN_ID}_notify_v1"
"""The idempotency key: made of the run and the step, never of an attempt."""
MESSAGE_ID = f"<{KEY}@agent.example>"
POLICY = """\
# What this project allows a recovery; guard and audit take it with --policy.

attemptsInLife = 5                # a run is taken over at most so often,
attemptsWithoutProgress = 3       # and so often in a row from the same checkpoint;
onBudgetReached = "hand_over"     # then a human decides
cooldownSeconds = 30              # the pause before the next attempt, doubled each time

[breaker]                         # where many runs fail in the same way, all of them wait
window = 20
minimum = 10
failedFraction = 0.5
openSeconds = 900
"""
STEPS = ("draft", "approve", "notify", "update_status")


def notification() -> dict[str, Any]:
    """The request that a human approves and the agent executes."""
    return {
        "to": "readers@example.org",
        "subject": "Post 42 is out",
        "body": "Our new post 42 is online: https://blog.example/42",
    }


def send(request: Mapping[str, Any], port: int) -> str:
    """Send the mail and return its Message-ID."""
    message = EmailMessage()
    message["From"], message["To"] = "agent@example.org", request["to"]
    message["Subject"], message["Message-ID"] = request["subject"], MESSAGE_ID
    message.set_content(request["body"])
    # A name of its own: smtplib would ask the network for one, and the demo works offline.
    with smtplib.SMTP(HOST, port, local_hostname="agent.localhost", timeout=10) as server:
        server.send_message(message)
    return MESSAGE_ID


def set_status(website: Path, status: str) -> str:
    """Write the post's status into the website's file."""
    website.write_text(json.dumps({"post": 42, "status": status}) + "\n", encoding="utf-8")
    return status


def status_of(website: Path) -> str:
    """The post's status as the website shows it."""
    return str(json.loads(website.read_text(encoding="utf-8"))["status"]) if website.exists() else "draft"
