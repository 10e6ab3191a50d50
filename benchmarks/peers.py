"""Other validators of JSON against a JSON Schema, in a folder of their own.

Decided here: which ones, how each is called so that it reads many files, and what it is given. All get the project's
own schema of every kind of record, bundled into one file; none of them knows of chains, ledgers or digests.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import venv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.processes import run

SCHEMAS = Path(__file__).parents[1] / "schema" / "v3"

PIP = ("check-jsonschema", "sourcemeta-jsonschema")
NPM = ("ajv-cli@5", "ajv-formats@3")


@dataclass(frozen=True, slots=True)
class Peer:
    """One way to call one of them."""

    name: str
    """With its version."""
    command: Callable[[Path, Path], list[str]]
    """From the schema and a folder of ``.json`` files."""
    slow: bool = False
    """Whether it is only given a part of the corpus."""
    lines: Callable[[Path, Path], list[str]] | None = None
    """The same for a folder of ``.jsonl`` files; None: it reads none."""


def install(tools: Path) -> tuple[list[Peer], dict[str, str]]:
    """The peers, installed below `tools` unless they are there already, and which could not be had, and why."""
    python, node = tools / "python", tools / "node"
    bin_ = python / "bin"
    if not (bin_ / "check-jsonschema").exists():
        venv.create(python, with_pip=True)
        _quietly([str(bin_ / "python"), "-m", "pip", "install", "--quiet", *PIP])
    peers = _python_peers(bin_)
    if not shutil.which("npm"):
        return peers, {"ajv-cli": "there is no npm"}
    if not (node / "node_modules" / "ajv-cli").exists():
        node.mkdir(parents=True, exist_ok=True)
        _quietly(["npm", "install", "--prefix", str(node), "--no-audit", "--no-fund", "--silent", *NPM])
    return [*peers, _ajv(node / "node_modules")], {}


def _quietly(command: Sequence[str]) -> None:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)  # noqa: S603
    if done.returncode:
        raise SystemExit(
            f"{' '.join(command)}: exit {done.returncode}\n{done.stderr.decode(errors='replace')}"
        )


def _python_peers(bin_: Path) -> list[Peer]:
    def version(package: str) -> str:
        asked = f"from importlib.metadata import version; print(version({package!r}))"
        return run([str(bin_ / "python"), "-c", asked]).said

    def sourcemeta(*options: str) -> list[str]:
        return [str(bin_ / "python"), "-m", "sourcemeta_jsonschema", "validate", *options]

    def check(schema: Path, folder: Path) -> list[str]:
        return [str(bin_ / "check-jsonschema"), "--schemafile", str(schema), *_files(folder, "json")]

    title = f"sourcemeta jsonschema {version('sourcemeta_jsonschema')}"
    return [
        Peer(
            f"{title} --fast",
            lambda schema, folder: [*sourcemeta("--fast"), str(schema), str(folder)],
            lines=lambda schema, folder: [*sourcemeta("--fast"), str(schema), *_files(folder, "jsonl")],
        ),
        Peer(
            title,
            lambda schema, folder: [*sourcemeta(), str(schema), str(folder)],
            lines=lambda schema, folder: [*sourcemeta(), str(schema), *_files(folder, "jsonl")],
        ),
        Peer(f"check-jsonschema {version('check-jsonschema')}", check, slow=True),
    ]


def _ajv(modules: Path) -> Peer:
    version = json.loads((modules / "ajv-cli" / "package.json").read_bytes())["version"]
    options = ["validate", "--spec=draft2020", "--strict=false", "-c", str(modules / "ajv-formats")]

    def command(schema: Path, folder: Path) -> list[str]:
        return [str(modules / ".bin" / "ajv"), *options, "-s", str(schema), "-d", f"{folder}/**/*.json"]

    return Peer(f"ajv-cli {version}", command)


def _files(folder: Path, suffix: str) -> list[str]:
    return sorted(map(str, folder.rglob(f"*.{suffix}")))


def bundle(target: Path) -> Path:
    """The schema of any v3 record with all that it refers to, as one file that needs nothing else."""
    schemas: dict[str, dict[str, Any]] = {}
    for path in sorted(SCHEMAS.glob("*.json")):
        schema = json.loads(path.read_bytes())
        schemas[schema["$id"]] = schema
    record = schemas.pop("urn:safepoint:v3:record")
    target.write_text(json.dumps({**record, "$defs": schemas}))
    return target


def missed(peer: Peer, schema: Path, clean: Path, scratch: Path) -> str:
    """Whether `peer` really validates: what it misses of a record that is right and one that is not; empty: nothing.

    Args:
        peer: the one to try.
        schema: the bundled schema.
        clean: a run's folder, as objects.
        scratch: a folder that does not exist yet.
    """
    shutil.copytree(clean, scratch)
    if run(peer.command(schema, scratch)).status != 0:
        return "refuses what is right"
    path = sorted(scratch.rglob("journal/*.json"))[-2]
    value = json.loads(path.read_bytes())
    path.write_text(json.dumps({**value, "createdAt": "2026-02-30T10:00:00Z"}))
    return "" if run(peer.command(schema, scratch)).status else "misses a planted fault"
