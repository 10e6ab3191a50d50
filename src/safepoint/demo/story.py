"""What the demo tells, in the order in which it happens, and the check that it came out as told."""

from __future__ import annotations

import shutil
from pathlib import Path
from shlex import quote
from textwrap import wrap
from typing import TextIO

import click

from safepoint.demo import stage
from safepoint.demo.mailbox import Mailbox
from safepoint.demo.post import RUN_ID, status_of
from safepoint.guard import Decision


class Story:
    """Three parts on one output; counts what did not come out as expected."""

    def __init__(self, directory: Path, out: TextIO, *, colour: bool) -> None:
        self.directory = directory
        self.out = out
        self.colour = colour
        self.wrong: list[str] = []

    def tell(self) -> bool:
        """The whole demo; whether everything came out as expected."""
        self.say(
            "An agent publishes post 42: draft, approval by a human, notify the readers, update the website."
        )
        self.say(
            "It is a real process, it mails over a real SMTP server on this machine, and it is really killed"
        )
        self.say("(SIGKILL): the mail is out, the website is not updated yet.")
        stage.write_policy(self.directory)
        self.as_people_do_it()
        self.recorded()
        self.during_the_send()
        self.look_yourself()
        for problem in self.wrong:
            self.say()
            self.say(self.styled(f"This demo did not come out as it should: {problem}", "red"))
        return not self.wrong

    def as_people_do_it(self) -> None:
        """Part 1: a checkpoint that says how far, and nothing else."""
        self.head("1. As people do it today: a checkpoint says how far the run got")
        folder, website = self.directory / "naive", self.directory / "naive-website.json"
        with Mailbox() as mailbox:
            stage.crash_naive(folder, website, mailbox)
            self.line("killed", "the last checkpoint says `approved`, and nothing says that the mail is out")
            decision = stage.judge(folder, None)
            again = self.directory / "naive-restarted"
            shutil.copytree(folder, again)
            stage.restart_naive(again, website, mailbox)
            self.line("restarted", "`approved`, so it sends")
            self.mails(mailbox, 2, "the readers were notified twice")
        self.line("why", "1. the send was not recorded anywhere  2. nobody looked before restarting")
        self.verdict(decision, "reconcile", "this would have been its answer to these files")

    def recorded(self) -> None:
        """Part 2: the same crash, with a ledger."""
        self.head("2. The same agent and the same kill, recorded by Safepoint")
        with Mailbox() as mailbox:
            crashed = stage.crash(self.directory, "recorded", "unkeyed", mailbox, during_send=False)
            self.line("killed", "the ledger says: send_notification attempted, then committed, with evidence")
            records, findings = stage.validate(crashed.store)
            self.expect(not findings, f"validate found {findings} problems in {crashed.store}")
            self.line("validate", f"{records} records, {findings} findings")
            decision = stage.judge(crashed.store, crashed.facts)
            self.verdict(decision, "resume")
            self.plan(decision, [("send_notification", "skip"), ("update_status", "run")])
            resumed = self.copy(crashed.store)
            run = stage.resume(resumed, crashed, "unkeyed", mailbox)
            self.line("resumed", "a new process claims epoch 2, skips the send, updates the website")
            self.mails(mailbox, 1, f"website {status_of(crashed.website)}, run {run.status}")
            self.expect(status_of(crashed.website) == "published", "the website was not updated")
            self.expect(run.status == "completed", f"the resumed run is {run.status}, not completed")

    def during_the_send(self) -> None:
        """Part 3: nobody can know, so it depends on what the provider promises."""
        self.head("3. Killed during the send: the server has the mail, the agent never got the answer")
        self.line(
            "killed",
            "the ledger says attempted, without an outcome: nobody can know whether the mail is out.",
        )
        self.line("", "What may happen next depends on what the mail provider promises.")
        self.say()
        with Mailbox() as mailbox:
            crashed = stage.crash(self.directory, "unkeyed", "unkeyed", mailbox, during_send=True)
            self.line("unkeyed", "it promises nothing: it knows no keys, and its outbox cannot be searched")
            self.verdict(stage.judge(crashed.store, crashed.facts), "hand_over", "a human decides")
            self.mails(mailbox, 1)
        self.say()
        with Mailbox() as mailbox:
            crashed = stage.crash(self.directory, "probe", "probe", mailbox, during_send=True)
            self.line("probe", "its outbox can be searched")
            self.verdict(stage.judge(crashed.store, crashed.facts), "reconcile", "ask the outbox first")
            self.mails(mailbox, 1)
        self.say()
        with Mailbox(keyed=True) as mailbox:
            crashed = stage.crash(self.directory, "keyed", "keyed", mailbox, during_send=True)
            self.line("keyed", "it drops a second mail with a Message-ID that it has seen")
            decision = stage.judge(crashed.store, crashed.facts)
            self.verdict(decision, "resume")
            self.plan(decision, [("send_notification", "replay"), ("update_status", "run")])
            run = stage.resume(self.copy(crashed.store), crashed, "keyed", mailbox)
            self.line("resumed", "sent again with the same key; the provider drops the second copy")
            self.mails(mailbox, 1, f"website {status_of(crashed.website)}, run {run.status}")
            self.expect(status_of(crashed.website) == "published", "the website was not updated")
            self.expect(run.status == "completed", f"the resumed run is {run.status}, not completed")

    def look_yourself(self) -> None:
        """What is left to play with."""
        self.head("Look yourself: the crashed stores are left as they were (resumed copies lie beside them)")
        for name in ("recorded", "unkeyed", "probe", "keyed"):
            store, facts = (
                quote(str(self.directory / name)),
                quote(str(self.directory / f"{name}-facts.json")),
            )
            self.say(f"  safepoint guard {store} --run {RUN_ID} --facts {facts}")
        recorded = quote(str(self.directory / "recorded"))
        self.say(f"  safepoint show {recorded} --run {RUN_ID}")
        self.say(f"  safepoint validate {recorded}")
        self.say(
            "The facts prove that the agent is dead. They age: after 15 minutes leave them out; by then its lease"
        )
        self.say("has lapsed, and the guard needs no proof.")
        self.say()
        self.say("The checklist of ten points, which the recorded agent passes and the other one does not:")
        policy = quote(str(self.directory / stage.POLICY_FILE))
        for name in ("naive", "recorded-resumed"):
            self.say(f"  safepoint audit {quote(str(self.directory / name))} --policy {policy}")

    def copy(self, store: Path) -> Path:
        """The store that will be resumed, so that the crashed one stays to be looked at."""
        resumed = store.with_name(f"{store.name}-resumed")
        shutil.copytree(store, resumed)
        return resumed

    def mails(self, mailbox: Mailbox, expected: int, then: str = "") -> None:
        """The count that everything is about."""
        count = len(mailbox.delivered)
        self.expect(count == expected, f"the mailbox holds {count} mails, expected {expected}")
        text = self.styled(f"{count} mail{'s' if count != 1 else ''}", "green" if count == 1 else "red")
        self.line("mailbox", f"{text}{', ' + then if then else ''}")

    def verdict(self, decision: Decision, expected: str, then: str = "") -> None:
        """The guard's answer and why."""
        self.expect(decision.verdict == expected, f"the guard said {decision.verdict}, expected {expected}")
        self.line("guard", self.styled(decision.verdict, "cyan") + (f": {then}" if then else ""))
        for reason in decision.reasons:
            if reason.verdict == decision.verdict:
                for text in wrap(f"{reason.code} {reason.message}", 96):
                    self.line("", text)

    def plan(self, decision: Decision, expected: list[tuple[str, str]]) -> None:
        """What is done again, and what is not."""
        items = [(item.action_id or str(item.step_name), item.do) for item in decision.plan]
        # The step of a skipped or replayed effect runs too, around it; naming both would only confuse here.
        shown = [item for item in items if item[0] != "notify"]
        self.expect(shown == expected, f"the plan is {shown}, expected {expected}")
        self.line("plan", ", ".join(f"{do} {what}" for what, do in shown))

    def head(self, text: str) -> None:
        """A part begins."""
        self.say()
        self.say(self.styled(text, bold=True))

    def line(self, what: str, text: str) -> None:
        """One thing that happened."""
        self.say(f"  {what:<10}{text}")

    def say(self, text: str = "") -> None:
        """Shown at once: the next part takes a second."""
        self.out.write(text + "\n")
        self.out.flush()

    def styled(self, text: str, colour: str | None = None, *, bold: bool = False) -> str:
        """Coloured where the output is a terminal."""
        return click.style(text, fg=colour, bold=bold) if self.colour else text

    def expect(self, holds: bool, otherwise: str) -> None:
        """The demo checks itself."""
        if not holds:
            self.wrong.append(otherwise)
