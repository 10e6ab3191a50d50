"""Where a report goes: to standard output, or to a file that is never half of it.

Decided here: that a file takes its name once it is whole, so that whoever reads it meanwhile, and whoever is left
with it after a crash, has the one before; and how text becomes bytes. Not decided here: what is written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from safepoint.cli.console import CannotEvaluate, write
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
        with _replacing(output, "the report") as file:
            yield lambda piece: _put(file, piece)


def write_file(path: str, data: bytes, what: str) -> None:
    """Writes a whole file.

    Args:
        path: where to.
        data: its content.
        what: what it is, to be told where it cannot be written.
    """
    with _replacing(path, what) as file:
        file.write(data)


@contextmanager
def _replacing(path: str, what: str) -> Iterator[BinaryIO]:
    from pathlib import Path

    target = Path(path).resolve()  # a link goes on to be one
    # by such a name no store takes it for one of its objects
    temporary = target.with_name(TEMPORARY + os.urandom(8).hex())
    try:
        if Path(path).exists() and not Path(path).is_file():
            # a device or a pipe: there is nothing to replace
            with Path(path).open("wb") as stream:
                yield stream
            return
        with temporary.open("xb") as file:
            if target.exists():
                temporary.chmod(target.stat().st_mode & 0o7777)
            yield file
        temporary.replace(target)
    except BrokenPipeError:
        raise
    except OSError as error:
        # a write knows no name, and of the temporary one nobody knows anything
        if error.filename in {None, path, str(temporary)}:
            raise CannotEvaluate(f"{path}: {what} could not be written: {error.strerror}") from error
        raise
    finally:
        with suppress(OSError):  # a folder that is not there, or may not be written, has none
            temporary.unlink()


def _encode(piece: str) -> bytes:
    # A file name that is no UTF-8 reaches us as lone surrogates.
    return piece.encode("utf-8", "backslashreplace")


def _put(file: BinaryIO, piece: str) -> None:
    file.write(_encode(piece))
