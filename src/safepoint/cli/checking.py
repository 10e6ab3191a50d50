"""``safepoint guard --check``: does a stored decision still stand?

Decided here: the option, the exit status, and the question that is asked again. Not decided here: what is compared
(``guard.standing``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeVar

import click

from safepoint import api
from safepoint.cli.console import LOCATION, one_store, screen, storage_words, write
from safepoint.reader.documents import load_document
from safepoint.render.asked import Asked
from safepoint.render.standing import standing_text
from safepoint.render.terminal import to_json

_Command = TypeVar("_Command", bound=Callable[..., Any])

VOID = 1
"""Exit status of a decision that no longer stands."""


def check_option(command: _Command) -> _Command:
    """``--check FILE``."""
    return click.option(
        "--check",
        type=LOCATION,
        metavar="FILE",
        help="Whether this stored decision still stands; give the options that it was made with. Without --run it "
        "names the run.",
    )(command)


def check_stored(
    ctx: click.Context,
    opened: api.Store,
    file: str,
    run_id: str | None,
    words: tuple[str, ...],
    question: Mapping[str, Any],
) -> NoReturn:
    """Says what was compared, and ends with status 0 (it stands) or 1 (it is void).

    Args:
        ctx: of the command.
        opened: the store.
        file: the decision.
        run_id: what followed ``--run``.
        words: the options that ask the guard the same again.
        question: arguments of `api.judge`.
    """
    decision = load_document("decision", file, question["storage_options"])
    assert decision is not None
    with one_store(ctx):
        found = api.check_decision(opened, decision, run_id=run_id, **question)
    document = found.document()
    facts: tuple[str, ...] = ctx.params["facts"]
    asked = Asked(
        opened.url,
        options=words,
        storage_words=tuple(storage_words(question["storage_options"])),
        facts_file=facts[-1] if facts else None,
        more_facts=facts[:-1],
        policy_file=question["policy"],
    )
    shown = standing_text(document, asked, screen(), decision["basis"])
    write(to_json(document) if ctx.params["output_format"] == "json" else shown)
    ctx.exit(0 if found.stands else VOID)
