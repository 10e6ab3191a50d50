"""The packaged JSON Schemas: which files there are, and each one complete in itself.

Decided here: where the files lie, and that a schema which is handed out needs no other. Not decided here: which engine
reads them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from typing import Any

import orjson

from safepoint.core.kind import KINDS
from safepoint.core.version import Version


def kinds(version: Version) -> tuple[str, ...]:
    """The kinds of record and document that `version` has, by name; none for an unknown major."""
    return tuple(sorted(KINDS.get(version.major, ())))


def schema(kind: str, version: Version) -> dict[str, Any]:
    """The JSON Schema (2020-12) of `kind`, complete in itself: what it refers to is embedded under ``$defs``.

    `kind` may also be ``record``: any kind of that version.

    Raises:
        KeyError: `version` has no such kind.
    """
    if kind != "record" and kind not in kinds(version):
        raise KeyError(f"{version} has no kind {kind!r}; it has {', '.join(kinds(version))}")
    root = load(version.major, kind)
    common: dict[str, Any] | None = None
    embedded: dict[str, dict[str, Any]] = {}
    waiting: list[Any] = [root]
    while waiting:
        for reference in references(waiting.pop()):
            urn, _, fragment = reference.partition("#")
            if not urn:
                continue
            name = urn.rpartition(":")[2]
            if name != "common" and urn not in embedded:
                embedded[urn] = load(version.major, name)
                waiting.append(embedded[urn])
            elif name == "common":
                # of the shared definitions only those in use: who prints a schema is spared the rest
                share = embedded.setdefault(urn, {"$id": urn, "$defs": {}})["$defs"]
                definition = fragment.removeprefix("/$defs/")
                if definition not in share:
                    common = common or load(version.major, name)
                    share[definition] = common["$defs"][definition]
                    waiting.append(share[definition])
    root["$defs"] = {**root.get("$defs", {}), **{urn: embedded[urn] for urn in sorted(embedded)}}
    return root


@cache
def members(kind: str, major: int) -> frozenset[str]:
    """The names of the members that a record of `kind` has at its top level."""
    return frozenset(load(major, kind)["properties"])


def references(node: Any) -> Iterator[str]:
    """Every ``$ref`` in a schema."""
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        node = list(node.values())
    if isinstance(node, list):
        for item in node:
            yield from references(item)


def load(major: int, name: str) -> dict[str, Any]:
    """One schema file, parsed afresh: callers change what they get."""
    with open(f"{folder()}/v{major}/{name}.json", "rb") as file:
        loaded: dict[str, Any] = orjson.loads(file.read())
    return loaded


@cache
def folder() -> str:
    """Where the schemas lie: beside this room in a wheel, at the checkout's top in an editable install.

    Text, not pathlib or importlib.resources: importing either costs every start more than the check of a record.
    """
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    packaged = f"{package}/schema"
    return packaged if os.path.isdir(packaged) else f"{os.path.dirname(os.path.dirname(package))}/schema"
