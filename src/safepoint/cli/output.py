"""Where a report goes: to standard output, or to a file that is never half of it.

Decided here: that a file takes its name once it is whole, so that whoever reads it meanwhile, and whoever is left
with it after a crash, has the one before; and how text becomes bytes. Not decided here: what is written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

from safepoint.cli.console import write
from safepoint.store.base import TEMPORARY

STDOUT = "-"


@contextmanager
def opened(output: str, *, for_people: bool) -> Iterator[Callable[[str], None]]:
    """What writes pieces of text to the file at `output`; ``-`` is standard output.

    Args:
        output: path of a file, or ``-``.
        for_people: the terminal's own encoding will do; programs and files get UTF-8 always.
    """
    if output == STDOUT:
        yield write if for_people else lambda piece: write(_encode(piece))
    else:
        with _replacing(output) as file:
            yield lambda piece: _put(file, piece)


def write_file(path: str, data: bytes) -> None:
    """Writes a whole file."""
    with _replacing(path) as file:
        file.write(data)


@contextmanager
def _replacing(path: str) -> Iterator[BinaryIO]:
    from pathlib import Path

    if Path(path).exists() and not Path(path).is_file():
        # a device or a pipe: there is nothing to replace
        try:
            with Path(path).open("wb") as stream:
                yield stream
        except OSError as error:
            error.filename = error.filename or path  # a write knows no name
            raise
        return
    target = Path(path).resolve()  # a link goes on to be one
    # by such a name no store takes it for one of its objects
    temporary = target.with_name(TEMPORARY + os.urandom(8).hex())
    try:
        with temporary.open("xb") as file:
            if target.exists():
                temporary.chmod(target.stat().st_mode & 0o7777)
            yield file
        temporary.replace(target)
    except OSError as error:
        if error.filename in {None, str(temporary)}:
            error.filename = path  # of the temporary name nobody knows anything
        raise
    finally:
        temporary.unlink(missing_ok=True)


def _encode(piece: str) -> bytes:
    # A file name that is no UTF-8 reaches us as lone surrogates.
    return piece.encode("utf-8", "backslashreplace")


def _put(file: BinaryIO, piece: str) -> None:
    file.write(_encode(piece))
