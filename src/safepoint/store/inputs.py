"""What the user's arguments name: files, folders, patterns, URLs.

Decided here: which stores and which keys each argument stands for (a folder of several stores for each of them),
and that an argument which names nothing, or something unreadable, is a fault and never an empty success. Not
decided here: what is done with them.
"""

# Paths are text: every command comes by here, and importing pathlib costs more than reading a file.

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from safepoint.core.fault import Fault, Place
from safepoint.store.base import TEMPORARY, Store
from safepoint.store.errors import AbsentError, StoreError, shown
from safepoint.store.layout import stores_below
from safepoint.store.local import LocalStore
from safepoint.store.opening import local_path, open_store

if TYPE_CHECKING:
    from safepoint.store.remote import RemoteStore


@dataclass(frozen=True, slots=True)
class Input:
    """Something to read."""

    store: Store
    keys: tuple[str, ...] | None
    """The objects meant; None for everything in the store."""
    named: bool
    """The user named this very file, so that it has to be one of ours."""


def expand(arguments: Sequence[str], **storage_options: Any) -> Iterator[Input | Fault]:
    """What `arguments` stand for, in their order; a repeated one once.

    Args:
        arguments: paths, patterns (``**`` is any number of folders) or URLs; not standard input.
        storage_options: as in `open_store`.

    Yields:
        Inputs; SP001 for an argument that names nothing, SP002 for one that cannot be read.
    """
    for argument in dict.fromkeys(arguments):
        try:
            path = local_path(argument)
            if path is None:
                yield from _expand_url(argument, storage_options)
            else:
                yield from _expand_path(argument, path)
        except AbsentError as error:
            yield _fault("SP001", argument, f"{error.problem}; {error.remedy}")
        except StoreError as error:
            yield _fault("SP002", error.url if error.key else argument, f"{error.problem}; {error.remedy}")


def _fault(code: str, argument: str, message: str) -> Fault:
    return Fault(code, message, place=Place(shown(argument)))


def _folder(store: LocalStore | RemoteStore, argument: str) -> Iterator[Input | Fault]:
    """A folder as one store; one that holds stores as each of them, and then the files beside them."""
    if below := stores_below(store):
        for folder in below:
            yield Input(_below(store, folder), None, named=False)
        inside = tuple(f"{folder}/" for folder in below)
        if rest := tuple(entry.key for entry in store.list() if not entry.key.startswith(inside)):
            yield Input(store, rest, named=False)
    elif _is_empty(store):
        yield _fault("SP001", argument, f"the folder {store.url} is empty; name one that holds records")
    else:
        yield Input(store, None, named=False)


def _is_empty(store: Store) -> bool:
    try:
        return next(store.list(), None) is None
    except StoreError as error:
        if not error.key:
            raise
        return False  # there is something in it, if only a folder that may not be looked into


def _below(store: LocalStore | RemoteStore, folder: str) -> Store:
    return open_store(store.url_of(folder)) if isinstance(store, LocalStore) else store.below(folder)


def _expand_path(argument: str, path: str) -> Iterator[Input | Fault]:
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        if not isinstance(error, FileNotFoundError | NotADirectoryError) or os.path.islink(path):
            yield _fault("SP002", argument, f"{error.strerror}; check the path and its permissions")
        elif any(mark in path for mark in "*?["):
            yield from _expand_pattern(argument, path)
        else:
            yield _fault("SP001", argument, "no such file or folder; check the name")
        return
    if stat.S_ISDIR(mode):
        yield from _folder(LocalStore(path, argument), argument)
    elif stat.S_ISREG(mode):
        # a link that the user named is followed wherever it leads; one that is merely met is not
        path = os.path.realpath(path) if os.path.islink(path) else path
        yield Input(LocalStore(os.path.dirname(path) or "."), (os.path.basename(path),), named=True)
    else:
        yield _fault("SP002", argument, "neither a file nor a folder; pipe it in and name it -")


def _expand_pattern(argument: str, pattern: str) -> Iterator[Input | Fault]:
    from safepoint.store.patterns import Matching

    matching = Matching(pattern)
    # linked folders make the same file turn up many times, and nope/** yields a nope/ that is not there
    found = sorted(matching.paths(), reverse=True)
    matches = {os.path.realpath(path): path for path in found if os.path.lexists(path)}
    paths = sorted(path for path in matches.values() if not os.path.basename(path).startswith(TEMPORARY))
    outside = {path for path in paths if matching.leads_out(path)}
    for path in sorted(outside):
        # what nobody would have read is no loss
        if os.path.isdir(path) or path.endswith((".json", ".jsonl")):
            base = shown(matching.base)
            met = (
                f"a link that leads out of {base} was met, and not followed; name it by itself if it is meant"
            )
            yield _fault("SP006", path, met)
    for path, why in sorted(matching.closed.items()):
        yield _fault("SP002", path, f"{why}; check the permissions")
    files = [path for path in paths if not os.path.isdir(path) and path not in outside]
    # with ** in it a pattern matches the folders and their files; once is enough
    folders = [] if "**" in pattern else [p for p in paths if os.path.isdir(p) and p not in outside]
    if not files and not folders and not outside and not matching.closed:
        yield _fault("SP001", argument, "the pattern matches nothing; check it, and quote it for the shell")
    for path in folders:
        yield from _folder(LocalStore(path), path)
    for folder, group in groupby(files, os.path.dirname):
        keys = tuple(map(os.path.basename, group))
        yield Input(LocalStore(folder or "."), keys, named=False)


def _expand_url(argument: str, options: dict[str, Any]) -> Iterator[Input | Fault]:
    from safepoint.store.connecting import connect
    from safepoint.store.urls import split_chain

    before, main, after = split_chain(argument)
    marks = "*[" if main.startswith(("http:", "https:")) else "*?["  # there ? begins the query
    at = min((main.find(mark) for mark in marks if mark in main), default=-1)
    if at < 0:
        store = connect(argument, options)
        kind = "folder" if main.endswith("/") else store.kind()
        if kind is None:
            yield _fault("SP001", argument, "nothing is there; check the name")
        elif kind == "folder":
            yield from _folder(store, argument)
        else:
            parent, key = store.parent()
            yield Input(parent, (key,), named=True)
        return
    cut = main.rfind("/", 0, at) + 1
    store = connect(before + main[:cut] + after, options)
    matches = list(store.glob(main[cut:]))
    files = tuple(key for key in matches if not key.endswith("/"))
    folders = [] if "**" in main[cut:] else [key.removesuffix("/") for key in matches if key.endswith("/")]
    if not files and not folders:
        yield _fault("SP001", argument, "the pattern matches nothing; check it, and quote it for the shell")
    for folder in folders:
        yield from _folder(store.below(folder), argument)
    if files:
        yield Input(store, files, named=False)
