"""The ``safepoint`` command: finds the subcommand, turns expected failures into messages and exit statuses."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, TextIO

import click

from safepoint.cli.console import CannotEvaluate, note
from safepoint.version import __version__

COMMANDS: Mapping[str, str] = {
    "anchor": "Write down elsewhere how far each run has come.",
    "approve": "Say yes to what a run waits for.",
    "audit": "Does recovery hold? Ten points, answered from the records.",
    "cancel": "Stop a run for good.",
    "compat": "Does a new payload schema still take what is stored?",
    "demo": "Watch a run crash, and see what may go on and what must not.",
    "doctor": "Try whether storage keeps two workers apart.",
    "explain": "What a code means, why it matters, how to fix it.",
    "facts": "What a decision needs to know, as a document to fill in.",
    "guard": "May this run go on, from where, and what must not happen twice?",
    "migrate": "Bring records to another version of the format.",
    "pack": "Keep closed runs in two files each.",
    "policy": "The settings that a run is judged by, each with its origin.",
    "prune": "Delete runs that were closed long ago.",
    "reject": "Say no to what a run waits for, or take a yes back.",
    "repair": "Copy a damaged store: what is sound as it lies, the rest aside.",
    "resolve": "Say what became of an effect, where nobody could tell.",
    "retract": "Hide checkpoints and artifacts of a run, for good.",
    "runs": "The runs of a store, and the state of each.",
    "schema": "Print the JSON Schema of a kind.",
    "show": "What happened in a run, for a human at night.",
    "unpack": "Make objects again of the records of packed runs.",
    "validate": "Check records, runs and stores.",
}
"""Every subcommand, whose module bears its name, with the line that ``safepoint --help`` shows of it."""

BROKEN_PIPE = 141
INTERRUPTED = 130


class Safepoint(click.Group):
    """A group that imports a subcommand's module only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The subcommands' names."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's
        """The subcommand, imported now; None where there is none."""
        if cmd_name not in COMMANDS:
            return None
        found: click.Command = import_module(f"safepoint.cli.{cmd_name}").command
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it, with a hint for a mistyped name."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            ctx.fail(f"No such command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's
        """The list in the help, without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def make_context(self, *arguments: Any, **attributes: Any) -> click.Context:
        """As click does it; here the group's own help is written, which may fail as any other output."""
        with _world_outside():
            return super().make_context(*arguments, **attributes)

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the subcommand; what may go wrong in the world outside becomes a message and status 3."""
        with _world_outside():
            return super().invoke(ctx)


@contextlib.contextmanager
def _world_outside() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        # Here and not in main(): click itself would turn it into status 1, which means "findings".
        raise click.exceptions.Exit(BROKEN_PIPE) from None
    except Exception as error:
        message = _expected(error)
        if message is None:
            raise
        raise CannotEvaluate(message) from error


def _expected(error: Exception) -> str | None:
    """What to tell the user where `error` is no mistake of ours, else None."""
    if isinstance(error, click.ClickException | click.exceptions.Exit | click.Abort):
        return None
    if isinstance(error, OSError):
        # Rooms turn those of stores into StoreError: what is left are the standard streams.
        return f"{error.filename or 'standard output'}: {error.strerror or error}"
    # An error of these classes can only be met if its module was loaded: nothing is imported just to compare.
    if "safepoint.store" in sys.modules:
        from safepoint.store import StoreError

        if isinstance(error, StoreError):
            return str(error)
    if "safepoint.api" in sys.modules:
        from safepoint.api import InputRefusedError, UnknownRunError

        if isinstance(error, InputRefusedError | UnknownRunError):
            return str(error)
    return None


@click.group(
    cls=Safepoint,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit status: 0 clean, 1 findings, 2 usage, 3 could not evaluate; guard has one for each verdict.",
)
@click.version_option(__version__, prog_name="safepoint", message="%(prog)s %(version)s")
def safepoint() -> None:
    """Checkpoints of AI-agent runs: validate them, migrate them, and judge whether a dead run may go on."""


def main() -> None:
    """The console command; never returns."""
    _fill_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A name that is no UTF-8, or a terminal that is no UTF-8, must not hide a finding.
            stream.reconfigure(errors="backslashreplace")
    status = _run()
    if failure := _flushed(sys.stdout):
        status = BROKEN_PIPE if isinstance(failure, BrokenPipeError) else CannotEvaluate.exit_code
    _flushed(sys.stderr)
    sys.exit(status)


def _fill_closed_streams() -> None:
    """Whoever closes a stream wants nothing of it; no file that is opened later may take its number."""
    # In this order, because the system gives out the lowest free number. Input stays None for `read_input`.
    if sys.stdin is None:
        os.open(os.devnull, os.O_RDONLY)
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115 - open until the process ends
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115 - open for the process's life


def _flushed(stream: TextIO) -> OSError | None:
    try:
        stream.flush()
    except OSError as error:
        with contextlib.suppress(OSError):
            # Else the interpreter tries to flush once more on its way out, and complains.
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return error
    return None


def _run() -> int:
    try:
        result = safepoint.main(prog_name="safepoint", standalone_mode=False)
    except click.ClickException as failure:
        with contextlib.suppress(OSError):  # the status says it too
            failure.show()
        return failure.exit_code
    except (click.Abort, KeyboardInterrupt):
        note("interrupted")
        return INTERRUPTED
    return result if isinstance(result, int) else 0
