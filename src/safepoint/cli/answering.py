"""What the commands share by which a human answers: options, refusals with their remedy, and what is printed.

Decided here: which exit status says what. Not decided here: what may be answered (``recorder``).
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from safepoint.cli.console import CannotEvaluate, given_options, note, screen, storage_words, write
from safepoint.core.timestamp import parse_time
from safepoint.model.record import Record
from safepoint.reader import load_run
from safepoint.reader.documents import InputRefusedError
from safepoint.recorder import PutAway, RecorderError, ResolutionRefused, StaleDecision, Unclear
from safepoint.render.answers import answer_json, answer_text
from safepoint.render.asked import Asked
from safepoint.render.overview import pending, quote, short, when
from safepoint.render.template import facts_to_fill_in
from safepoint.render.terminal import plain
from safepoint.store import Store

_Command = TypeVar("_Command", bound=Callable[..., Any])

STATUSES: Mapping[int, str] = {
    0: "the answer is recorded, or would be (--dry-run)",
    1: "refused, and nothing was recorded: the output says why, and what to do",
    2: "wrong usage: nothing was recorded",
    3: "the store could not be read or written, or holds no such run",
}
"""What the exit statuses mean."""

_DURATION = re.compile(r"([1-9][0-9]{0,6})(s|min|h|d|w)")
_SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}


def by_option(command: _Command) -> _Command:
    """``--by WHO``."""
    return click.option("--by", required=True, metavar="WHO", help="Who says so; kept in the journal.")(
        command
    )


def reason_option(command: _Command) -> _Command:
    """``--reason TEXT``."""
    return click.option("--reason", metavar="TEXT", help="Why; kept in the journal.")(command)


def dry_run_option(command: _Command) -> _Command:
    """``--dry-run``."""
    words = "Check everything, print the records as they would be stored, and write nothing."
    return click.option("--dry-run", is_flag=True, help=words)(command)


def approval_options(command: _Command) -> _Command:
    """``--approval``, ``--action`` and ``--checkpoint``: one of them, which `named_question` makes sure of."""
    options = (
        click.option("--approval", metavar="ID", help="The question, by its approvalId."),
        click.option("--action", metavar="ID", help="Or the action that waits for it."),
        click.option("--checkpoint", metavar="ID", help="Or the checkpoint that does."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def named_question(
    ctx: click.Context,
    store: Store,
    run_id: str,
    asked: Asked,
    approval: str | None,
    action: str | None,
    checkpoint: str | None,
) -> dict[str, Any]:
    """What the answer is about; where nothing was named, the one question that waits.

    Raises:
        click.UsageError: several things were named; or none, and several questions wait or none does.
    """
    about = {"approval_id": approval, "action_id": action, "checkpoint_id": checkpoint}
    named = {name: text for name, text in about.items() if text is not None}
    if len(named) > 1:
        raise click.UsageError("name one of --approval, --action and --checkpoint, not several")
    if named:
        return named
    run = load_run(store, run_id).run
    waiting = pending(run, time.time_ns()) if run else ()
    if len(waiting) == 1:
        return {"approval_id": waiting[0].approval_id}
    if not waiting:
        raise click.UsageError(
            "no question waits in this run; name what you mean with --approval, --action or --checkpoint. "
            f"What the guard says:\n  {asked.again(run_id, None)}"
        )
    lines = [f"{len(waiting)} questions wait; say which one:"]
    for question in waiting:
        who = question.asked.value.get("actor")
        what = (
            f"action {question.action_id}" if question.action_id else f"checkpoint {question.checkpoint_id}"
        )
        lines.append(f"  {plain(what)}{f', which {plain(who)} is asked about' if who else ''}:")
        lines.append(f"  {same_again(ctx)} --approval {quote(question.approval_id)}")
    raise click.UsageError("\n".join(lines))


def duration(text: str | None) -> int | None:
    """The seconds that ``--expires`` names."""
    if text is None:
        return None
    found = _DURATION.fullmatch(text)
    if not found:
        raise click.UsageError(f"--expires: expected a duration such as 45min, 12h or 7d, found {text!r}")
    return int(found[1]) * _SECONDS[found[2]]


def asked_of(
    store: Store,
    storage: Mapping[str, Any],
    *,
    facts: Sequence[str] = (),
    known: Mapping[str, Any] | None = None,
    policy: str | None = None,
) -> Asked:
    """The question to the guard that follows an answer.

    Args:
        store: the open store.
        storage: its options.
        facts: the facts files.
        known: what they say.
        policy: the policy file.
    """
    return Asked(
        store.url,
        storage_words=tuple(storage_words(storage)),
        facts=known,
        facts_file=facts[-1] if facts else None,
        more_facts=tuple(facts[:-1]),
        policy_file=policy,
    )


@contextmanager
def refusals(ctx: click.Context, run_id: str, asked: Asked) -> Iterator[None]:
    """Turn what an answer may be refused for into a message with its remedy, and an exit status."""
    try:
        yield
    except InputRefusedError:
        raise
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    except (Unclear, PutAway) as error:
        # each says by itself whether anything was written
        raise CannotEvaluate(_with_notes(error)) from error
    except ResolutionRefused as refused:
        note(f"refused, nothing was recorded: {plain(str(refused))}")
        note("\n".join(_remedy(ctx, run_id, refused, asked)))
        ctx.exit(1)
    except StaleDecision as stale:
        note(f"refused, as another process was faster: {plain(_with_notes(stale))}\nLook again:")
        note(f"  {asked.again(run_id, asked.facts_file)}")
        ctx.exit(1)
    except RecorderError as refused:
        first = "not finished" if getattr(refused, "__notes__", None) else "refused, nothing was recorded"
        note(f"{first}: {plain(_with_notes(refused))}")
        note(f"What the guard says to do:\n  {asked.again(run_id, asked.facts_file)}")
        ctx.exit(1)


def _with_notes(error: Exception) -> str:
    return "; ".join([str(error), *getattr(error, "__notes__", ())])


def _remedy(ctx: click.Context, run_id: str, refused: ResolutionRefused, asked: Asked) -> Iterator[str]:
    """How to get the answer taken: from when on, or by which facts."""
    document = refused.decision.document()
    layers = {reason.layer for reason in refused.against}
    if "integrity" in layers:
        yield "What is wrong, and where:"
        yield f"  {asked.line('validate', '--run', run_id)}"
        return
    if "ownership" in layers and document["verdict"] == "wait" and document["notBefore"]:
        until, now = document["notBefore"], parse_time(document["evaluatedAt"])
        yield f"Nobody need wait for it {when(until, now)} any more, at {short(until, up=True)}:"
        yield same_again(ctx)
    if refused.epochs:
        file = asked.facts_file or "facts.json"
        needs = [{"kind": "owner", "subject": f"epoch {epoch}"} for epoch in refused.epochs]
        skeleton = facts_to_fill_in(document, needs, asked.facts)
        yield f"If you know that it is dead, {'add this to' if asked.facts else 'write this into'} {plain(file)}:"
        text = json.dumps(skeleton, indent=2, ensure_ascii=False)
        yield from (f"  {plain(line)}" for line in text.split("\n"))
        yield "and answer again:"
        yield same_again(ctx) if asked.facts_file else f"{same_again(ctx)} --facts {file}"


def same_again(ctx: click.Context, *, leave_out: Collection[str] = ()) -> str:
    """The same command, to be copied, but for the options of those names."""
    words = (ctx.params["store"], *given_options(ctx, leave_out=leave_out))
    return " ".join(["  safepoint", str(ctx.info_name), *map(quote, words)])


def say(
    ctx: click.Context,
    run_id: str,
    records: Sequence[Record],
    asked: Asked,
    *,
    dry_run: bool,
    output_format: str,
    lines: Sequence[str] | None = None,
    **more: Any,
) -> None:
    """Print what was recorded, or would be, and the command that asks the guard next."""
    again = asked.again(run_id, asked.facts_file)
    if output_format == "json":
        write(answer_json(str(ctx.info_name), run_id, records, again, dry_run=dry_run, **more))
        return
    then = ["now ask the guard:", f"  {again}"] if lines is None else list(lines)
    write(answer_text(records, then, screen(), dry_run=dry_run))
    if dry_run:
        count = f"{len(records)} record{'' if len(records) == 1 else 's'}"
        note(f"nothing was written; {count} would be, as printed but for nonce and times")
        # standard output holds the records to the letter, and nothing else
        if lines:
            note("\n".join(lines))
