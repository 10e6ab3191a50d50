"""A payload schema's file, and every other file that it leads to.

Decided here: that a schema is complete on this machine. What it refers to lies in files, found by paths relative to
the file that refers to them; nothing is ever fetched, and a reference that leads elsewhere is an error before any
record is read.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin
from urllib.request import url2pathname

from safepoint.core import pointer
from safepoint.core.strictjson import parse

if TYPE_CHECKING:
    from referencing import Registry, Resource

DEFAULT_DIALECT = "https://json-schema.org/draft/2020-12/schema"
"""What a schema without ``$schema`` is written in."""

_REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
_BY_NAME = frozenset(
    {"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"}
)
"""Keywords whose members are schemas by the names of something else: these names are no keywords."""
_DATA = frozenset({"const", "default", "enum", "examples"})
"""Keywords whose values are no schemas, whatever they look like."""


class PayloadSchemaError(ValueError):
    """A payload schema that cannot be used: not there, no JSON Schema, or not complete on this machine."""

    def __init__(self, path: str, problem: str, place: str = "") -> None:
        self.path = path
        """The file with the fault."""
        self.pointer = place
        """What is wrong in it, as an RFC 6901 pointer."""
        super().__init__(f"{path}: {problem}{f' (at {place})' if place else ''}")


@dataclass(frozen=True, slots=True)
class Complete:
    """A schema with everything that it refers to."""

    uri: str
    """What the schema's own file is called in `registry`."""
    dialect: str
    documents: Mapping[str, Any]
    """The content of each file, by the URI that it is referred to by."""
    paths: Mapping[str, str]
    """The same files, as the user may open each of them."""
    registry: Registry[Any]
    """The same for the reference engine."""


def complete(path: str) -> Complete:
    """The schema in the file at `path`.

    Raises:
        PayloadSchemaError: one of the files is no sound schema, or something is not on this machine.
    """
    from referencing import Registry

    files = _Files(path)
    lazy: Registry[Any] = Registry(retrieve=files.retrieve)  # type: ignore[call-arg]  # attrs hides it from mypy
    looked = set[str]()
    while waiting := [uri for uri in files.documents if uri not in looked]:
        for uri in waiting:
            looked.add(uri)
            for place, base, reference in _references(files.documents[uri], uri):
                files.look_up(lazy, base, reference, uri, place)
    resources = [(uri, _resource(document)) for uri, document in files.documents.items()]
    registry: Registry[Any] = Registry().with_resources(resources)
    return Complete(files.uri, _dialect(files.documents[files.uri]), files.documents, files.paths, registry)


class _Files:
    """What was read so far."""

    def __init__(self, path: str) -> None:
        self.uri = _uri(path)
        self.documents: dict[str, Any] = {}
        self.paths: dict[str, str] = {}
        """The file of each document, as the user may open it."""
        self._published: dict[str, Path] = {}
        """Where schemas say that they are published, and the folder where the same files lie here."""
        self._folder = Path(path).parent
        self._take(self.uri, path)

    def _take(self, uri: str, path: str) -> None:
        document = _located(_load(path))
        # A file's references begin where the file lies. What it calls itself (``$id``) is where others may find it,
        # which is not here; engines differ in which of the two they go by, so they are not shown it.
        own = document.get("$id") if isinstance(document, dict) else None
        if isinstance(own, str) and not own.startswith("#"):
            document = {name: value for name, value in document.items() if name != "$id"}
            if "://" in own:
                self._published.setdefault(own.rpartition("/")[0] + "/", Path(path).parent)
        self.paths[uri], self.documents[uri] = path, document

    def look_up(self, registry: Registry[Any], base: str, reference: str, uri: str, place: str) -> None:
        """Makes sure that `reference`, at `place` in the document `uri`, leads to something; reads its file."""
        from referencing.exceptions import NoSuchAnchor, PointerToNowhere, Unresolvable

        path = self.paths[uri]
        try:
            registry.with_resource(uri, self.retrieve(uri)).resolver(base).lookup(reference)
        except (PointerToNowhere, NoSuchAnchor) as error:
            raise PayloadSchemaError(path, f"{_shown(reference)} leads to nothing", place) from error
        except Unresolvable as error:
            cause: BaseException | None = error
            while cause is not None and not isinstance(cause, PayloadSchemaError):
                cause = cause.__cause__
            if isinstance(cause, PayloadSchemaError):
                raise PayloadSchemaError(
                    path, f"{_shown(reference)} cannot be used: {cause}", place
                ) from error
            problem = f"{_shown(reference)} is not on this machine, and nothing is fetched"
            remedy = "keep a copy beside this file, and refer to it by its relative path"
            raise PayloadSchemaError(path, f"{problem}; {remedy}", place) from error

    def retrieve(self, uri: str) -> Resource[Any]:
        """The document `uri`, read where it was not.

        Raises:
            LookupError: it is not on this machine.
            PayloadSchemaError: it is no sound schema.
        """
        if uri not in self.documents:
            if judge := _validator(uri):
                return _resource(judge.META_SCHEMA)  # a payload that is a schema itself
            path = self._path(uri)
            if path is None:
                raise LookupError(uri)
            self._take(uri, path)
        return _resource(self.documents[uri])

    def _path(self, uri: str) -> str | None:
        if uri.startswith("file://"):
            path = url2pathname(uri.removeprefix("file://"))
            # Named as the user named the file that leads there, so that a message can be pasted.
            return str(self._folder / os.path.relpath(path, self._folder))
        for prefix, folder in self._published.items():
            if uri.startswith(prefix):
                return str(folder / url2pathname(uri.removeprefix(prefix)))
        return None


def _uri(path: str) -> str:
    # Not resolved: a linked file refers to what lies beside the link.
    return Path(path).absolute().as_uri()


def _load(path: str) -> Any:
    """The sound schema in the file at `path`."""
    from jsonschema.exceptions import SchemaError

    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise PayloadSchemaError(path, f"it cannot be read: {error.strerror}") from error
    schema, faults = parse(data)
    if faults:
        raise PayloadSchemaError(path, f"it is no JSON: {faults[0].message}")
    if not isinstance(schema, dict | bool):
        raise PayloadSchemaError(path, "it is no JSON Schema: expected an object, or true or false")
    judge = _validator(_dialect(schema))
    if judge is None:
        problem = f"{_shown(_dialect(schema))} is no known draft of JSON Schema; expected 4, 6, 7, 2019-09 or 2020-12"
        raise PayloadSchemaError(path, problem, "/$schema")
    try:
        judge.check_schema(schema)
    except SchemaError as error:
        problem = f"it is no JSON Schema: {error.message[:200]}"
        raise PayloadSchemaError(path, problem, pointer.join(*error.absolute_path)) from error
    except NO_PATTERN as error:
        problem = f"the reference engine cannot judge by it: a pattern is too large or too deep ({error})"
        raise PayloadSchemaError(path, problem) from error
    require_patterns(path, schema, "")
    return schema


def require_patterns(path: str, schema: Any, place: str) -> None:
    """That the reference engine can look for each pattern, and for all that it joins.

    Raises:
        PayloadSchemaError: it cannot.
    """
    if isinstance(schema, list):
        for number, item in enumerate(schema):
            require_patterns(path, item, place + pointer.join(number))
        return
    if not isinstance(schema, dict):
        return
    for keyword, value in schema.items():
        here = place + pointer.join(keyword)
        if keyword in _BY_NAME and isinstance(value, dict):
            for name, inner in value.items():
                if keyword == "patternProperties":
                    _require_pattern(path, name, "it is no regular expression", here + pointer.join(name))
                require_patterns(path, inner, here + pointer.join(name))
            if keyword == "patternProperties" and "additionalProperties" in schema:
                _require_pattern(path, "|".join(value), _NONE_JOINED, here, _JOINED)
        elif keyword not in _DATA:
            require_patterns(path, value, here)


NO_PATTERN = (re.error, OverflowError, RecursionError)
"""What Python says of a regular expression that it cannot compile."""
_NONE_JOINED = (
    "beside additionalProperties the reference engine joins these patterns with |, which gives none"
)
_JOINED = "; write a flag for a group, as (?i:…), and give a group a name of its own"


def _require_pattern(path: str, pattern: str, problem: str, place: str, remedy: str = "") -> None:
    try:
        re.compile(pattern)
    except NO_PATTERN as error:
        raise PayloadSchemaError(path, f"{problem}: {error}{remedy}", place) from error


def _dialect(schema: Any) -> str:
    return str(schema.get("$schema", DEFAULT_DIALECT)) if isinstance(schema, dict) else DEFAULT_DIALECT


def _validator(dialect: str) -> Any:
    """The reference engine's class for `dialect`; None where there is none."""
    from jsonschema.validators import validator_for

    unknown: Any = None
    found = validator_for({"$schema": dialect}, default=unknown)
    return None if "/draft-03/" in dialect else found  # jsonschema-rs begins with draft 4


def _resource(schema: Any) -> Resource[Any]:
    from referencing.jsonschema import specification_with

    return specification_with(_dialect(schema)).create_resource(schema)


def _located(schema: Any) -> Any:
    """`schema` with a keyword for each member that must not be there: of a mere ``false`` no engine tells the place."""
    if isinstance(schema, list):
        return [_located(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {keyword: value if keyword in _DATA else _of(keyword, value) for keyword, value in schema.items()}


def _of(keyword: str, value: Any) -> Any:
    if keyword in _BY_NAME and isinstance(value, dict):
        return {name: {"not": {}} if inner is False else _located(inner) for name, inner in value.items()}
    return _located(value)


def _references(schema: Any, base: str, place: str = "") -> Iterator[tuple[str, str, str]]:
    """Every reference in `schema`: where it stands, the URI that it is relative to, and itself."""
    if isinstance(schema, list):
        for number, item in enumerate(schema):
            yield from _references(item, base, place + pointer.join(number))
        return
    if not isinstance(schema, dict):
        return
    own = schema.get("$id")
    if isinstance(own, str):
        base = urljoin(base, own)
    for keyword, value in schema.items():
        here = place + pointer.join(keyword)
        if keyword in _REFERENCES and isinstance(value, str):
            yield here, base, value
        elif keyword in _BY_NAME and isinstance(value, dict):
            for name, inner in value.items():
                yield from _references(inner, base, here + pointer.join(name))
        elif keyword not in _DATA:
            yield from _references(value, base, here)


def _shown(text: str) -> str:
    return json.dumps(text)
