"""A good case as damages see it: files, the JSON texts in them, and the logs that the texts form.

Decided here: how a log is written again after a change, so that not only its digests give the change away.
Not decided here: what is changed.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from safepoint.core.digest import digest_stored

Files = dict[str, bytes]
"""A case's files by their names, relative to the case."""

Damage = tuple[str, "Text", str, Files]
"""Its kind, the text that is damaged, the place in it, and the files as they then are."""

Wanted = Callable[[str, "Text", str], bool]
"""Whether a kind is to be tried at that place of that text: to make a damage costs as much as to find it."""

SETTINGS = {"attemptsInLife", "guardContext"}
"""Members of a policy, which need not say that it is one."""

NUMBERED = re.compile(r"[0-9]{10,}\.json")


@dataclass(frozen=True, slots=True)
class Text:
    """One JSON text."""

    key: str
    """Its file."""
    line: int
    """Its line in a JSON Lines file, from 0."""
    data: bytes
    value: Any

    @property
    def name(self) -> str:
        """What it is: kind and status, such as ``ledger.committed``; a kind of v1 or v2 by its id."""
        kind = self.value.get("recordType") or ("checkpoint" if "checkpointId" in self.value else "ledger")
        version = str(self.value.get("schemaVersion", "v2")).partition(".")[0]
        status = next((self.value[m] for m in ("status", "event", "state") if m in self.value), "")
        status = f".{status}" if status and kind != "checkpoint" else ""
        return f"{kind}{status}" if version == "v3" else f"{version}-{kind}{status}"

    def changed(self, value: Any) -> Text:
        """This text with another value."""
        return replace(self, value=value, data=encode(value))

    def with_members(self, **members: Any) -> Text:
        """This text with other members."""
        return self.changed({**self.value, **members})

    def without(self, *names: str) -> Text:
        """This text with fewer members."""
        return self.changed({name: item for name, item in self.value.items() if name not in names})


@dataclass(frozen=True, slots=True)
class Log:
    """The numbered records of one run's journal or recovery log, in their order."""

    name: str
    """``journal`` or ``recovery``."""
    run_id: str
    folder: str
    """Where its objects lie; for JSON Lines the name of the file."""
    objects: bool
    texts: tuple[Text, ...]


@dataclass(frozen=True, slots=True)
class Good:
    """A case without a fault."""

    name: str
    inputs: tuple[str, ...]
    files: Files
    texts: tuple[Text, ...] = field(default=())
    logs: tuple[Log, ...] = field(default=())

    @classmethod
    def load(cls, folder: Path, name: str, inputs: Sequence[str]) -> Good:
        """The files of the case in `folder` that are validated; what is in them is not looked at yet."""
        files = {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for top in inputs
            for path in ([folder / top] if (folder / top).is_file() else sorted((folder / top).rglob("*")))
            if path.is_file()
        }
        return cls(name, tuple(inputs), files)

    def read(self) -> Good:
        """The same with its texts and logs; every text must be sound."""
        texts = tuple(texts_of(self.files))
        return replace(self, texts=texts, logs=tuple(logs_of(texts)))

    @property
    def artifacts(self) -> list[str]:
        """The names of the artifacts that lie in the store."""
        return [key for key in self.files if "/artifacts/" in key]

    @property
    def has_artifacts(self) -> bool:
        """Whether there are any, so that they are looked at."""
        return bool(self.artifacts)

    def of_log(self, text: Text) -> Log | None:
        """The log that `text` is a record of."""
        return next((log for log in self.logs if text in log.texts), None)


def encode(value: Any) -> bytes:
    """One line; unlike the library's own encoder it takes anything."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def texts_of(files: Files) -> Iterator[Text]:
    """All records and documents in `files`; somebody else's JSON is left alone."""
    for key, data in files.items():
        lines = data.removesuffix(b"\n").split(b"\n") if key.endswith(".jsonl") else [data]
        for number, line in enumerate(lines if key.endswith((".json", ".jsonl")) else ()):
            value = json.loads(line)
            if value.keys() & {"recordType", "checkpointId", "actionId", *SETTINGS}:
                yield Text(key, number, line, value)


def logs_of(texts: Sequence[Text]) -> Iterator[Log]:
    """The logs that `texts` form."""
    groups: dict[tuple[str, str, str, bool], list[Text]] = {}
    for text in texts:
        # an anchor is of no run
        if isinstance(text.value, dict) and text.value.keys() >= {"sequence", "previousDigest", "runId"}:
            name = "recovery" if text.value["recordType"] == "recovery" else "journal"
            path = PurePosixPath(text.key)
            objects = bool(NUMBERED.fullmatch(path.name))
            place = str(path.parent) if objects else text.key
            groups.setdefault((name, text.value["runId"], place, objects), []).append(text)
    for (name, run_id, place, objects), those in groups.items():
        yield Log(name, run_id, place, objects, tuple(sorted(those, key=lambda t: t.value["sequence"])))


def put(files: Files, old: Text, data: bytes) -> Files:
    """`files` with other bytes in the place of `old`, and nothing else changed."""
    whole = files[old.key]
    if not old.key.endswith(".jsonl"):
        return {**files, old.key: data}
    end = b"\n" if whole.endswith(b"\n") else b""
    lines = whole.removesuffix(b"\n").split(b"\n")
    lines[old.line] = data
    return {**files, old.key: b"\n".join(lines) + end}


def link(texts: Sequence[Text], *, start: int = 0, renumber: bool = False) -> list[Text]:
    """`texts` chained anew from `start` on, each to the stored bytes of the one before."""
    linked = list(texts[:start])
    for index, text in enumerate(texts[start:], start):
        members: dict[str, Any] = {
            "previousDigest": digest_stored(linked[-1].data) if linked else None,
        }
        if renumber:
            members["sequence"] = index + 1
        same = all(text.value.get(name) == item for name, item in members.items())
        linked.append(text if same else text.with_members(**members))
    return linked


def write(files: Files, log: Log, texts: Sequence[Text]) -> Files:
    """`files` with `texts` in the place of the log's own; an object is named for the number in its record."""
    own = {text.key for text in log.texts}
    rest = {key: data for key, data in files.items() if key not in own}
    if log.objects:
        names = [f"{log.folder}/{text.value['sequence']:010}.json" for text in texts]
        return rest | dict(zip(names, (text.data for text in texts), strict=True))
    end = b"\n" if files[log.folder].endswith(b"\n") else b""
    return rest | {log.folder: b"\n".join(text.data for text in texts) + end}


def rewrite(good: Good, old: Text, data: bytes) -> Files:
    """The case with other bytes for one text, and the rest of its log chained to them."""
    log = good.of_log(old)
    if log is None:
        return put(good.files, old, data)
    at = log.texts.index(old)
    texts = [*log.texts[:at], replace(old, data=data), *log.texts[at + 1 :]]
    # the damaged record itself keeps what it says
    return write(good.files, log, link(texts, start=at + 1))


def edited(good: Good, old: Text, change: Callable[[dict[str, Any]], None]) -> Files:
    """The case with one record changed by `change`, and the rest of its log chained to it."""
    value = copy.deepcopy(old.value)
    change(value)
    return rewrite(good, old, encode(value))
