"""``safepoint facts``: what a decision needs to know of the world, and what several documents say of it together.

Decided here: that a template asks for everything at once, and where it goes. Not decided here: which evidence is
missing (``guard``), what a gap looks like (``render.template``), and what contradicts what (``reader.merging``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from safepoint import api
from safepoint.cli.anchoring import anchor_options, require_apart
from safepoint.cli.artifacts import artifact_scheme_option
from safepoint.cli.asking import facts_option, policy_option, request_of, request_options
from safepoint.cli.console import (
    LOCATION,
    Command,
    given_options,
    named_run,
    note,
    now_option,
    one_store,
    run_option,
    screen,
    storage_option,
    storage_words,
    write,
)
from safepoint.guard import still_true, supposing_dead, unproven_owners
from safepoint.reader.merging import load_facts
from safepoint.render.asked import Asked
from safepoint.render.decision import VERDICTS
from safepoint.render.template import facts_are_idle, facts_can_answer, template
from safepoint.render.terminal import plain, to_json
from safepoint.store.elsewhere import Elsewhere


@click.group()
def command() -> None:
    """What is true in the world, for the guard: skeletons to fill in, and several documents as one."""


@command.command(
    "template",
    cls=Command,
    short_help="What a decision about a run has to know, to fill in.",
    examples=[
        "safepoint facts template ./store --run run_123 --output facts.json",
        "safepoint facts template ./store --run run_123 --facts facts.json",
    ],
    statuses={
        0: "the template is printed or written, or nothing is missing, which standard error says",
        2: "wrong usage",
        3: "something could not be read or written",
    },
)
@click.argument("store", type=LOCATION)
@run_option
@facts_option
@policy_option
@request_options
@click.option(
    "--output",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write the template there instead of to standard output; a file that exists is never overwritten.",
)
@artifact_scheme_option
@anchor_options
@now_option
@storage_option
@click.pass_context
def template_command(
    ctx: click.Context,
    store: str,
    run_id: str | None,
    facts: tuple[str, ...],
    policy: str | None,
    request: str | None,
    goal: str | None,
    checkpoint: str | None,
    step: str | None,
    epoch: int | None,
    actor: str | None,
    output: str | None,
    allow_artifact_schemes: frozenset[str] | None,
    anchor: str | None,
    anchor_storage: dict[str, Any],
    now: int | None,
    storage: dict[str, Any],
) -> None:
    """A facts document with a gap for each thing that the guard would have to know of this run, and for nothing else.

    Give it what is known already with --facts: it asks for the rest. What it prints is a document of its own, to be
    given beside those. No gap is accepted by any command before it is filled in.
    """
    elsewhere = Elsewhere(allow_artifact_schemes or (), storage)
    opened = api.open_store(store, **elsewhere.own_options)
    run_id, known = named_run(ctx, opened, run_id), load_facts(facts, storage)
    wishes = {"goal": goal, "checkpoint": checkpoint, "step": step, "epoch": epoch, "actor": actor}
    question = {
        "policy": policy,
        "request": request_of(request, wishes),
        "now": api.moment_of(now),
        "anchor": anchor,
        "anchor_storage_options": anchor_storage,
        "allow_artifact_schemes": elsewhere.schemes,
        "storage_options": storage,
    }
    require_apart(store, anchor)
    with one_store(ctx):
        needed = _needed(opened, run_id, known, question)
    asked = Asked(
        opened.url,
        options=tuple(given_options(ctx, leave_out=_SAID_APART)),
        storage_words=tuple(storage_words(storage)),
        policy_file=policy,
    )
    if needed.document is not None:
        text = to_json(needed.document)
        if output is None:
            write(text)
        else:
            _write_new(Path(output), text)
    lines = [*_said(needed), *_then(needed, asked, facts, output)]
    paint = screen(error_stream=True).paint
    note("\n".join([paint(lines[0], "bold"), *lines[1:]]))


@command.command(
    "merge",
    cls=Command,
    short_help="Facts documents of one run as one.",
    examples=["safepoint facts merge from-provider.json from-cluster.json > facts.json"],
    statuses={
        0: "the merged document is printed",
        2: "wrong usage",
        3: "one is not sound or cannot be read, they contradict each other, or they are of several runs",
    },
)
@click.argument("files", nargs=-1, required=True, type=LOCATION, metavar="FILE...")
@storage_option
def merge_command(files: tuple[str, ...], storage: dict[str, Any]) -> None:
    """Facts documents of one run as one, as the guard takes them together.

    A contradiction is refused with both places. observedAt becomes the oldest, and what was observed later says so
    itself wherever it can.
    """
    write(to_json(load_facts(files, storage)))


@dataclass(frozen=True, slots=True)
class _Needed:
    """What a decision lacks, and the document that asks for it."""

    run_id: str
    verdict: str
    """What the guard says as it is now."""
    document: dict[str, Any] | None
    stale: bool
    """Whether the facts that were given are too old, so that the document takes their place."""
    replaces: tuple[str, ...]
    """Pointers of what the given facts say, and the document asks for anew."""
    pointless: bool
    """Whether no fact changes the verdict."""
    fleet: bool = False
    """Whether what they say of the fleet is too old, which nobody writes by hand."""


def _needed(
    opened: api.Store, run_id: str, known: Mapping[str, Any] | None, question: dict[str, Any]
) -> _Needed:
    """Everything at once: also what would be missing only once the owners in question are proven dead."""
    judged = api.judge(opened, run_id, facts=known, **question)
    verdict, now = judged.decision.verdict, int(question["now"])
    stale = any(need.subject == "observedAt" for need in judged.decision.missing_evidence)
    kept = still_true(known) if known and stale else None
    if kept is not None:
        base = supposing_dead(None, judged.run, (), now) | {"owners": [], **kept}
        judged, known = api.judge(opened, run_id, facts=base, **question), base
    first = judged.decision.document()
    if first["verdict"] in {"no_op", "give_up"} or facts_are_idle(first, known):
        return _Needed(run_id, verdict, None, stale=False, replaces=(), pointless=True)
    documents = [first]
    owners = [need.subject for need in judged.decision.missing_evidence if need.kind == "owner"]
    epochs = unproven_owners(judged.run, known, judged.policy, now)
    if owners:
        named = {int(epoch[1]) for owner in owners if (epoch := re.fullmatch(r"epoch ([0-9]+)", owner))}
        named |= {number for owner in owners for number in epochs.get(owner, ())}
        dead = supposing_dead(known, judged.run, named, now)
        documents.append(api.judge(opened, run_id, facts=dead, **question).decision.document())
    needs = [
        need
        for document in documents
        for need in document["missingEvidence"]
        if facts_can_answer(document, need, known)
    ]
    asked_again = [item for document in documents for item in document["plan"] if item["do"] == "reconcile"]
    needs += [
        {"kind": "owner", "subject": item["actionId"]}
        for item in asked_again
        if item["reason"] in _DEATH_COUNTS and item["actionId"] in epochs
    ]
    start = next(
        (c.value for c in judged.run.checkpoints if c.value["checkpointId"] == first["checkpointId"]), {}
    )
    unknown_steps = (known or {}).get("knownSteps") is None
    steps = tuple(start.get("nextSteps") or ()) if unknown_steps else ()
    found = template(first, needs, known, kept=kept, steps=steps, epochs=epochs)
    replaces = () if stale or found is None else tuple(_said_already(found, known or {}))
    fleet = any(need["subject"] == "fleet" for need in first["missingEvidence"])
    return _Needed(run_id, verdict, found, stale=stale, replaces=replaces, pointless=False, fleet=fleet)


_DEATH_COUNTS = frozenset({"SP765", "SP773", "SP775"})
"""Reasons to find out about an effect whose answer may rest on its worker's death."""


def _said_already(found: Mapping[str, Any], known: Mapping[str, Any]) -> list[str]:
    """Pointers of the entries that both hold; an owner's death may be told twice."""
    return [
        f"/{name}/{subject}"
        for name, value in found.items()
        if isinstance(value, dict)
        for subject in value
        if subject in (known.get(name) or {}) and name != "external"
    ]


def _said(needed: _Needed) -> list[str]:
    """What the guard says now, and whether facts are of use."""
    verdict = needed.verdict
    judged = f"{verdict}: {VERDICTS[verdict][1]}"
    if needed.pointless:
        return [f"no facts are needed: they would not change the answer, which is {judged}"]
    if needed.document is None and needed.fleet:
        return [
            f"what is said of the fleet is too old: observe it again, or leave it out; now it is {judged}"
        ]
    if needed.document is None and verdict in {"resume", "wait", "compensate"}:
        return [f"nothing is missing; the guard's answer is {judged}"]
    if needed.document is None:
        return [f"no fact would change the answer, which is {judged}"]
    lines = [f"fill in every FILL IN; as it is now, the guard's answer is {judged}"]
    if needed.stale:
        lines.append(
            "The given facts are too old: this takes their place, with what does not change any more."
        )
    if needed.replaces:
        places = ", ".join(plain(pointer) for pointer in needed.replaces)
        lines.append(f"What the given facts say at {places} is asked anew: take it out there.")
    if verdict == "resume":
        lines.append("These facts only let it check more.")
    if verdict == "hand_over":
        lines.append("A human is asked all the same, unless these facts take the reason away.")
    return lines


def _then(needed: _Needed, asked: Asked, facts: Sequence[str], output: str | None) -> list[str]:
    files = () if needed.stale else tuple(facts)
    if needed.document is not None:
        files = (*files, output or "facts.json" if not facts else output or "more-facts.json")
    words = [*asked.options, *(word for file in files for word in ("--facts", file))]
    if asked.policy_file:
        words = [*words, "--policy", asked.policy_file]
    return [f"{'then' if needed.document else 'see'}: {asked.command('guard', needed.run_id, *words)}"]


def _write_new(path: Path, text: bytes) -> None:
    try:
        with path.open("xb") as file:
            file.write(text)
    except FileExistsError as error:
        raise click.UsageError(
            f"--output {path}: exists, and may hold facts that somebody filled in; name another file."
        ) from error


_SAID_APART = frozenset({"run_id", "facts", "policy", "now", "output", "storage"})
"""Options that are no part of a question which is asked again, or that are said by themselves."""
