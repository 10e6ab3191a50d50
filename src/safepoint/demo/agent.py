"""The same agent, recorded by Safepoint (a process of its own).

It differs from the naive one in three places: the send and the status update are effects, the approval is a record
that binds to what will be sent, and a restart asks the guard.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import smtplib
import time
from collections.abc import Mapping
from pathlib import Path

from safepoint.demo.post import KEY, MESSAGE_ID, RUN_ID, notification, send, set_status
from safepoint.recorder import Declares, NotApproved, Receipt, RecordedRun, resume_run, start_run
from safepoint.store import Store, open_store

APPROVAL = "publish-42-notification"
LEASE_SECONDS = 5
"""Short, so that the lease of the killed agent lapses while one still plays with the demo."""

TOOLS: Mapping[str, Declares] = {
    "unkeyed": Declares(effect="message"),
    "probe": Declares(effect="message", probe="byQuery", probe_settle_seconds=1),
    "keyed": Declares(effect="message", idempotency="keyed", dedupe_window_seconds=86_400),
}
"""What three mail providers promise: nothing; an outbox that can be searched; to drop a Message-ID they have seen."""


class Agent:
    """The four steps. Each checkpoint names the next ones, so that any process can go on from it."""

    def __init__(
        self, run: RecordedRun, provider: str, website: Path, port: int, *, die_after_send: bool
    ) -> None:
        self.run = run
        self.provider = provider
        self.website = website
        self.port = port
        self.die_after_send = die_after_send

    def work(self) -> None:
        """Take the steps that are left, then end the run."""
        steps = {
            "draft": self.draft,
            "approve": self.approve,
            "notify": self.notify,
            "update_status": self.update_status,
        }
        for step in self.run.next_steps if self.run.last_checkpoint else tuple(steps):
            steps[step]()
        self.run.complete()

    def draft(self) -> None:
        """Write the notification; a pure step, so nothing is recorded before it."""
        self.run.checkpoint(
            "cp_01",
            state="drafted",
            step_name="draft",
            next_steps=["approve", "notify", "update_status"],
            reason="humanGate",
            state_snapshot={"notification": notification()},
        )

    def approve(self) -> None:
        """Wait until a human has approved exactly this notification."""
        self.run.request_approval(
            APPROVAL, request=notification(), action_id="send_notification", expires_seconds=3600
        )
        while (state := self.run.approval_state(APPROVAL)) == "requested":
            time.sleep(0.02)
        if state not in {"granted", "consumed"}:
            raise NotApproved(f"the notification is {state}, not granted: it is not sent")
        self.run.checkpoint(
            "cp_02",
            state="approved",
            step_name="approve",
            next_steps=["notify", "update_status"],
            reason="beforeEffect",
            state_snapshot={"notification": notification()},
        )

    def notify(self) -> None:
        """Send the notification: recorded before, settled after, and never sent twice unasked."""
        request = notification()
        with self.run.effect(
            "send_notification",
            step_name="notify",
            request=request,
            key=KEY if self.provider == "keyed" else None,
            declares=TOOLS[self.provider],
            message_id=MESSAGE_ID,
            approval=APPROVAL,
            definite=(ConnectionRefusedError, smtplib.SMTPRecipientsRefused),
        ) as effect:
            effect.call(self.send_mail, request)
        if self.die_after_send:
            os.kill(os.getpid(), signal.SIGKILL)
        self.run.checkpoint(
            "cp_03",
            state="notified",
            step_name="notify",
            next_steps=["update_status"],
            reason="afterEffect",
        )

    def send_mail(self, request: Mapping[str, str]) -> Receipt:
        """Send it, and keep the provider's answer as evidence."""
        sent = send(request, self.port)
        return Receipt(result={"messageId": sent}, external_ref=sent, message_id=sent)

    def update_status(self) -> None:
        """Tell the website; harmless to repeat, and recorded all the same."""
        with self.run.effect(
            "set_status",
            step_name="update_status",
            request={"post": 42, "status": "published"},
            declares=Declares(effect="write", idempotency="natural", reversibility="reversible"),
        ) as effect:
            effect.call(set_status, self.website, "published")
        self.run.checkpoint(
            "cp_04", state="published", step_name="update_status", next_steps=[], reason="afterEffect"
        )


def open_run(store: Store, facts: Path | None, policy: Path) -> RecordedRun:
    """Start the run, or go on with it where the guard agrees, by the project's policy."""
    if facts is None:
        return start_run(
            store,
            RUN_ID,
            workflow="publish",
            holder="agent-1",
            ttl_seconds=LEASE_SECONDS,
            input={"post": 42},
            policy=policy,
        )
    known = json.loads(facts.read_bytes())
    return resume_run(store, RUN_ID, holder="agent-2", ttl_seconds=LEASE_SECONDS, facts=known, policy=policy)


def main() -> None:
    """Run until done, or until killed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("store")
    parser.add_argument("provider", choices=sorted(TOOLS))
    parser.add_argument("website", type=Path)
    parser.add_argument("port", type=int)
    parser.add_argument("policy", type=Path)
    parser.add_argument("--resume", type=Path, metavar="FACTS")
    parser.add_argument("--die-after-send", action="store_true")
    given = parser.parse_args()
    with open_run(open_store(given.store), given.resume, given.policy) as run:
        Agent(run, given.provider, given.website, given.port, die_after_send=given.die_after_send).work()


if __name__ == "__main__":
    main()
