"""Users' payload schemas and the steps between them, for tests."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safepoint import PayloadMigrations, PayloadSchemas, PayloadStep
from safepoint.core.fault import Fault
from safepoint.payloads.migrations import PayloadChange

A1, A2, A3, A4 = (f"agent/state@{number}" for number in (1, 2, 3, 4))
SCHEMAS: Mapping[str, Any] = {
    A1: {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}},
    A2: {"type": "object", "required": ["b"], "properties": {"b": {"type": "integer", "maximum": 9}}},
    A3: {"type": "object", "required": ["c"]},
    A4: True,
    "other@1": True,
}
RENAME = [{"op": "move", "from": "/a", "path": "/b"}]
SECRET = "hunter2"


class Project:
    """A folder with schemas, patches and code, and the steps that lead from one to the next."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.steps: list[PayloadStep] = []
        self.schemas = dict(SCHEMAS)

    def patch(self, source: str, target: str, *operations: Any, members: tuple[str, ...] = ()) -> Project:
        path = self.folder / f"{len(self.steps)}.json"
        path.write_text(json.dumps(list(operations)))
        files = {member: str(path) for member in members} if members else str(path)
        return self._step(source, target, patch=files)

    def code(self, source: str, target: str, body: str, module: str = "steps_of_mine") -> Project:
        """A function with that body, in a module of its own: Python imports one of a name only once."""
        name = f"{module}_{abs(hash((str(self.folder), body, len(self.steps))))}"
        (self.folder / f"{name}.py").write_text(
            f"import itertools, time\ncount = itertools.count()\n\n{body}\n"
        )
        return self._step(source, target, function=f"{name}:step", folder=str(self.folder))

    def _step(self, source: str, target: str, **how: Any) -> Project:
        self.steps.append(PayloadStep(source, target, origin=f"steps[{len(self.steps)}]", **how))
        return self

    def load(self, *, allow_code: bool = False) -> PayloadMigrations:
        files = {}
        for name, schema in self.schemas.items():
            path = self.folder / f"{name.replace('/', '-')}.schema.json"
            path.write_text(json.dumps(schema))
            files[name] = str(path)
        return PayloadMigrations.load(self.steps, PayloadSchemas.load(files), allow_code=allow_code)

    def toward(self, *targets: str, allow_code: bool = False) -> PayloadChange:
        return self.load(allow_code=allow_code).toward(targets)


def saved(name: str | None, **snapshots: Any) -> dict[str, Any]:
    return {"recordType": "checkpoint", "payloadSchema": name, "x-own": [1], **snapshots}


def only(faults: tuple[Fault, ...]) -> Fault:
    (fault,) = faults
    return fault


def refused(change: PayloadChange, value: dict[str, Any]) -> Fault:
    """The one fault, once it is certain that the value stayed as it was and that nothing secret is told."""
    before = copy.deepcopy(value)
    result, faults = change.apply(value)
    assert result is value
    assert value == before
    assert SECRET not in only(faults).message
    return only(faults)
