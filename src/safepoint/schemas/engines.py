"""The two engines: jsonschema-rs says yes or no where it is installed, jsonschema is the reference.

Decided here: which engine answers, and by which form of a schema. Not decided here: what is said of a no (``faults``).

With ``payloads`` the only room that imports a schema engine, and only once something is checked.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from safepoint.core.kind import Identity
from safepoint.core.version import V3, Version
from safepoint.schemas.files import load, schema
from safepoint.schemas.special import WORDS, inlined, specialise

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

Engine = Literal["auto", "jsonschema"]
"""``auto``: jsonschema-rs says yes or no where it is installed; ``jsonschema``: always the reference."""

JOURNAL = ("run", "checkpoint", "ledger", "approval", "lease", "evidence", "retract")
"""The kinds of a journal, for which there are rewritten schemas."""

PROVEN = ("recordType", "schemaVersion", "runId", "sequence", "previousDigest")
"""Members that `all_valid` takes on trust."""


def all_valid(kind: str, word: str | None, values: list[dict[str, Any]]) -> bool:
    """Whether `values`, journal records of v3 that say `kind` and `word` of themselves, all fit their schema.

    Only ever a yes is reliable: what is not certain at this speed is a no, and `check` has the last word.

    Args:
        kind: their ``recordType``.
        word: the value of the member that `special.WORDS` names for the kind.
        values: at least one. The caller knows that the members in `PROVEN` are right: v3, the run's id, a sequence of
            2 or more, and the digest of the record before.
    """
    judge = special_judge(kind, word, several=True) if word in words(kind) else None
    return judge is not None and judge(values)


@cache
def words(kind: str) -> frozenset[str | None]:
    """The values that the telling member of `kind` may have; none where nothing is rewritten for the kind."""
    if kind not in JOURNAL:
        return frozenset()
    if kind not in WORDS:
        return frozenset({None})
    return frozenset(load(V3.major, kind)["properties"][WORDS[kind]]["enum"])


@cache
def special_judge(kind: str, word: str | None, *, several: bool) -> Callable[[Any], bool] | None:
    """Says yes or no by a rewritten schema, to one record or to a list of `several`; None where it cannot be had."""
    rust = _rust()
    if rust is None:
        return None
    one = specialise(schema(kind, V3), kind, word, PROVEN if several else ())
    if one is None:
        return None
    judge: Callable[[Any], bool] = rust({"type": "array", "items": one} if several else one).is_valid
    return judge


def is_ordinary(identity: Identity, value: Any) -> bool:
    """Whether `value` fits the schema that was rewritten for records like it: a yes is reliable, a no is not."""
    if (
        identity.version != V3
        or not isinstance(value, dict)
        or type(value.get("sequence")) is not int
        or value["sequence"] < 2
    ):
        return False
    word = value.get(WORDS[identity.kind]) if identity.kind in WORDS else None
    if type(word) not in {str, type(None)} or word not in words(identity.kind):
        return False
    judge = special_judge(identity.kind, word, several=False)
    return judge is not None and judge(value)


def is_valid(identity: Identity, value: Any, engine: Engine = "auto") -> bool:
    """Whether `value` fits the schema of its kind and version."""
    if engine == "auto" and is_ordinary(identity, value):
        return True
    judge = fast_judge(identity.kind, identity.version.major) if engine == "auto" else None
    return judge(value) if judge else reference_judge(identity.kind, identity.version.major).is_valid(value)


@cache
def fast_judge(kind: str, major: int) -> Callable[[Any], bool] | None:
    """Says yes or no by jsonschema-rs; None where it is not installed."""
    rust = _rust()
    return None if rust is None else rust(inlined(schema(kind, Version(major)))).is_valid


def _rust() -> Any:
    """The validator of jsonschema-rs; None where it is not installed."""
    # It imports this module itself, and panics where an interrupt falls into that.
    import decimal  # noqa: F401

    try:
        from jsonschema_rs import Draft202012Validator
    except ImportError:
        return None
    return Draft202012Validator


@cache
def reference_judge(kind: str, major: int) -> Draft202012Validator:
    """The reference engine, which can also say why not."""
    from jsonschema import Draft202012Validator
    from referencing import Registry, Resource

    root = schema(kind, Version(major))
    # crawled beforehand, or each reference of each record would be looked for anew
    registry: Registry[Any] = Registry().with_resource(root["$id"], Resource.from_contents(root)).crawl()
    return Draft202012Validator(root, registry=registry)
