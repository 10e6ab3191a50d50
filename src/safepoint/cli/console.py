"""What the commands share: the output they write to, and the options that mean the same everywhere."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO, TypeVar, cast

import click

from safepoint.cli.completion import complete_runs
from safepoint.core.timestamp import format_time, parse_time
from safepoint.render.overview import quote
from safepoint.render.terminal import Screen

if TYPE_CHECKING:
    from safepoint.store import Store

_Command = TypeVar("_Command", bound=Callable[..., Any])


class Command(click.Command):
    """A command whose help ends with examples to copy and with what its exit statuses mean."""

    def __init__(
        self,
        *arguments: Any,
        examples: Sequence[str] = (),
        statuses: Mapping[int, str] | None = None,
        groups: Mapping[str, Sequence[str]] | None = None,
        **attributes: Any,
    ) -> None:
        super().__init__(*arguments, **attributes)
        self.examples, self.statuses = examples, statuses or {}
        self.groups = groups or {}
        """Headings of the help, each with the names of its options; what no group names comes last."""

    def invoke(self, ctx: click.Context) -> Any:
        """As click does it, unless a printed line was copied with its gaps."""
        for param in ctx.command.params:
            if _is_gap(ctx.params.get(str(param.name))):
                name = param.opts[0] if isinstance(param, click.Option) else str(param.name).upper()
                raise click.UsageError(f"{name} is still to be filled in: say it in your own words")
        return super().invoke(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options under the headings of their groups."""
        if not self.groups:
            return super().format_options(ctx, formatter)
        options = (param for param in self.get_params(ctx) if isinstance(param, click.Option))
        records = {str(p.name): record for p in options if (record := p.get_help_record(ctx))}
        grouped = {heading: [records.pop(name) for name in names] for heading, names in self.groups.items()}
        for heading, listed in {**grouped, "Other": list(records.values())}.items():
            with formatter.section(heading):
                formatter.write_dl(listed)
        return None

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The two sections; lines that are to be copied are never wrapped."""
        super().format_epilog(ctx, formatter)
        with formatter.section("Examples"):
            for example in self.examples:
                formatter.write(f"{'':{formatter.current_indent}}{example}\n")
        if self.statuses:
            with formatter.section("Exit status"):
                formatter.write_dl([(str(status), words) for status, words in self.statuses.items()])


def _is_gap(value: Any) -> bool:
    """Whether a value is what a printed command has where only its reader knows what to say."""
    if isinstance(value, tuple):
        return any(map(_is_gap, value))
    return isinstance(value, str) and value.startswith("FILL IN")


LOCATION = click.Path(readable=False, allow_dash=True)
"""A path or URL, which a shell completes as a path; whether it can be read is said once it is."""


class WholeNumber(click.IntRange):
    """A whole number of at least `least`, and in plain words what is none."""

    def __init__(self, least: int) -> None:
        super().__init__(min=least)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """As click does it."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"expected a whole number of at least {self.min}, found {value!r}", param, ctx)


def format_option(command: _Command) -> _Command:
    """``--format text|json``."""
    kinds = click.Choice(["text", "json"])
    return click.option(
        "--format", "output_format", type=kinds, default="text", show_default=True, help="Output format."
    )(command)


class CannotEvaluate(click.ClickException):
    """Something could not be looked at: exit status 3, which is never a pass."""

    exit_code = 3


LISTED = 20
"""Stores of a folder that are named."""


@contextmanager
def one_store(ctx: click.Context) -> Iterator[None]:
    """A folder of stores where one is wanted becomes an error that lists the command for each of them."""
    from safepoint.api import SeveralStoresError

    try:
        yield
    except SeveralStoresError as error:
        more = len(error.stores) - LISTED
        lines = [
            f"{error.url} is no store, it holds at least {len(error.stores)}. Name one of them:",
            *(_line(ctx, store, *given_options(ctx)) for store in error.stores[:LISTED]),
            *([f"  and {more} more"] if more > 0 else []),
        ]
        raise CannotEvaluate("\n".join(lines)) from error


def _line(ctx: click.Context, *words: str) -> str:
    return " ".join([f"  {ctx.command_path}", *map(quote, words)])


def given_options(ctx: click.Context, *, leave_out: Collection[str] = ()) -> Iterator[str]:
    """The options that were given, as the words of a command; a secret of a storage option is ``…`` in it.

    Args:
        ctx: of the command.
        leave_out: names of options that the words shall not hold.
    """
    for param in ctx.command.params:
        value = ctx.params.get(str(param.name))
        if not isinstance(param, click.Option) or param.name in leave_out:
            continue
        if param.callback is _storage:
            yield from storage_words(value or {}, param.opts[0])
        elif not value or value == param.default:
            continue
        elif param.is_flag:
            yield param.opts[0]
        else:
            for one in _values(param, value):
                yield from (param.opts[0], one)


def _values(param: click.Option, value: Any) -> list[str]:
    if param.callback is _moment:
        return [format_time(value)]
    return (
        sorted(value) if isinstance(value, frozenset) else [*map(str, value if param.multiple else [value])]
    )


def storage_words(options: Mapping[str, Any], option: str = "--storage-option") -> list[str]:
    """Storage options as the words that give them again; whoever has a secret puts it where ``…`` stands.

    Args:
        options: what `storage_option` made of them.
        option: by which they were given.
    """
    shown = shown_options(options).items()
    return [word for key, value in shown for word in (option, f"{key}={_as_given(key, value)}")]


def _as_given(key: str, value: Any) -> str:
    import orjson

    if value is ...:
        return "…"
    if isinstance(value, str):
        # JSON was told from text by trying: a text that would pass for JSON was given as a JSON string
        return orjson.dumps(value).decode() if _parsed(key, value) != value else value
    return orjson.dumps(value).decode()


def shown_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Storage options as they may be printed: in place of a secret, or of what may hold one, is an `Ellipsis`."""
    return {key: ... if _is_secret(key, value) else value for key, value in options.items()}


_SECRETS = re.compile(
    r"key|secret|token|pass(?!ive)|pwd|credential|auth|header|cookie|connection_string|sas|signature|session",
    re.IGNORECASE,
)
"""What the name of a storage option holds that is, or may be, a secret."""


def _is_secret(key: str, value: Any) -> bool:
    if value is None or isinstance(value, bool):
        return False
    # a URL may hold a password, or a signature behind its question mark
    told = isinstance(value, str) and "://" in value and ("@" in value or "?" in value)
    return told or isinstance(value, (dict, list)) or _SECRETS.search(key) is not None


def run_option(command: _Command) -> _Command:
    """``--run RUN``; `named_run` refuses its absence, as only an open store can say which runs there are."""
    return click.option(
        "--run", "run_id", metavar="RUN", shell_complete=complete_runs, help="Which run; must be given."
    )(command)


def named_run(ctx: click.Context, store: Store, run_id: str | None, *, deleted: bool = True) -> str:
    """`run_id`, or where none was given an error with the command for each run of `store`.

    Args:
        ctx: of the command that the user gave.
        store: the open store.
        run_id: what followed ``--run``.
        deleted: whether the command is of use for a run that was deleted.
    """
    from safepoint.store.layout import deleted_key, run_ids

    if run_id is not None:
        return run_id
    first = list(islice(run_ids(store), LISTED + 1))
    named = [name for name in first[:LISTED] if deleted or not store.exists(deleted_key(name))]
    lines = [_line(ctx, store.url, "--run", name, *given_options(ctx)) for name in named]
    if not lines or len(first) > LISTED:
        words = " ".join(map(quote, (store.url, *storage_words(ctx.params.get("storage") or {}))))
        lines.append(f"  safepoint runs {words}   lists all runs")
    raise click.UsageError("\n".join(["say which run with --run:", *lines]))


def storage_option(command: _Command) -> _Command:
    """``--storage-option KEY=VALUE``, as keyword arguments of `open_store` under the name ``storage``."""
    return click.option(
        "--storage-option",
        "storage",
        multiple=True,
        metavar="KEY=VALUE",
        callback=_storage,
        help="Handed to fsspec with every URL. A VALUE that is JSON is what it says, any other is text. Repeatable.",
    )(command)


def more_storage_option(name: str, destination: str, place: str) -> Callable[[_Command], _Command]:
    """As `storage_option`, for one `place` of several: what is given here wins there."""
    return click.option(
        name,
        destination,
        multiple=True,
        metavar="KEY=VALUE",
        callback=_storage,
        help=f"The same for {place} alone, where it wins over --storage-option. Repeatable.",
    )


_TEXTS = frozenset({"key", "secret", "token", "account_name", "account_key", "profile", "project"})
"""Storage options that stay text, also where they look like a number."""


def _storage(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> dict[str, Any]:  # noqa: ARG001 - click's signature
    options: dict[str, Any] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not key or not equals:
            # the value may be a secret, and so may a text without a key
            raise click.UsageError(f"{param.opts[0]}: expected KEY=VALUE, such as anon=true")
        options[key] = _parsed(key, value)
    return options


def _parsed(key: str, value: str) -> Any:
    import orjson

    try:
        return value if key in _TEXTS and value[:1] != "{" else orjson.loads(value)
    except orjson.JSONDecodeError:
        return value


def _moment(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    try:
        return None if value is None else parse_time(value)
    except ValueError as error:
        raise click.BadParameter(f"got {value!r}, {error}", ctx, param) from error


def now_option(command: _Command) -> _Command:
    """``--now TIME``: the moment to judge at, in nanoseconds; by default this machine's clock."""
    return click.option(
        "--now",
        callback=_moment,
        default=None,
        metavar="TIME",
        help="Judge as of this RFC 3339 time; default: this clock.",
    )(command)


def screen(*, error_stream: bool = False) -> Screen:
    """What standard output, or standard error, can show."""
    stream = sys.stderr if error_stream else sys.stdout
    if not stream.isatty():
        return Screen()
    import shutil

    colour = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Screen(colour=colour, width=shutil.get_terminal_size((110, 24)).columns)


def write(text: str | bytes) -> None:
    """`text` to standard output, as it is."""
    # click would strip colours by its own judgement; `screen` has judged already.
    click.echo(text, nl=False, color=True)


def note(text: str) -> None:
    """One line to standard error; where nobody can read it, the status and standard output still count."""
    with suppress(OSError):
        click.echo(text, err=True, color=True)


def read_input() -> bytes:
    """Standard input, to its end."""
    return open_input().read()


def open_input() -> BinaryIO:
    """Standard input, to be read as far as it is wanted."""
    stream: TextIO | None = sys.stdin
    if stream is None:
        raise CannotEvaluate("standard input is closed: there is nothing to read")
    return cast("BinaryIO", _Input(stream.buffer))


class _Input:
    """Standard input, whose errors are named as its own."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def read(self, size: int = -1) -> bytes:
        try:
            return self._stream.read(size)
        except OSError as error:
            raise CannotEvaluate(f"standard input: {error.strerror}") from error
