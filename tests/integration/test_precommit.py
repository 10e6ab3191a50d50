"""The hooks of ``.pre-commit-hooks.yaml``, run by pre-commit itself on a repository made for it.

pre-commit installs them as on a user's machine: it clones this project and builds it in an environment of its own. The
clone is made from a copy, because what is tested may not be committed yet, or lie in no repository at all.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs/ci.md"
SHIPPED = ("src", "schema", "pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml")
RECORD = '{"actionId": "a", "runId": "r", "stepName": "s", "idempotencyKey": "k", "status": "pending"}\n'
HOOKS = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
STORE = "tests/data/store"
TORN = '{"actionId": "a", "runId"\n'

pytestmark = [
    pytest.mark.timeout(300),  # the first one waits for the package index
    pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed"),
]


@dataclass(frozen=True, slots=True)
class Repository:
    """A scratch repository whose commits run hooks."""

    path: Path
    environment: Mapping[str, str]

    def git(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["git", *arguments],
            cwd=self.path,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=280,
        )

    def write(self, name: str, text: str) -> None:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def commit(self) -> subprocess.CompletedProcess[str]:
        """All that changed; the hooks decide."""
        self.git("add", "--all")
        return self.git("commit", "--message", "a change")


def init(path: Path, environment: Mapping[str, str]) -> Repository:
    path.mkdir(exist_ok=True)
    repository = Repository(path, environment)
    assert repository.git("init", "--quiet", "--initial-branch", "main").returncode == 0
    return repository


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """Of the machine's git settings nothing counts, and its caches stay as they are."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "COVERAGE_"))}
    identity = {"NAME": "A", "EMAIL": "a@example.org"}
    return {
        **kept,
        **{f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in identity.items()},
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        # The copy is the test's own, whoever runs it: in a container the owners may differ.
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.directory",
        "GIT_CONFIG_VALUE_0": "*",
        "PRE_COMMIT_HOME": str(tmp_path_factory.mktemp("pre-commit")),
        "PRE_COMMIT_COLOR": "never",
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), kept["PATH"]]),
    }


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, environment: Mapping[str, str]) -> tuple[Path, str]:
    """This project as a repository with one commit, and that commit."""
    copy = init(tmp_path_factory.mktemp("project"), environment)
    for name in SHIPPED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(
                source, copy.path / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
            )
        else:
            shutil.copy(source, copy.path / name)
    assert copy.commit().returncode == 0
    return copy.path, copy.git("rev-parse", "HEAD").stdout.strip()


def documented() -> str:
    """The configuration that docs/ci.md has."""
    found = re.search(r"^```yaml\n(repos:\n.*?)^```", DOCUMENT.read_text(), re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture
def repository(tmp_path: Path, environment: Mapping[str, str], project: tuple[Path, str]) -> Repository:
    """Both hooks, as docs/ci.md has them, and a store where it says."""
    scratch = init(tmp_path / "scratch", environment)
    url, commit = project
    configuration, count = re.subn(r"(repo: )\S+\n(\s+rev: )\S+", rf"\g<1>{url}\n\g<2>{commit}", documented())
    assert count == 1
    scratch.write(".pre-commit-config.yaml", configuration)
    assert STORE in configuration
    shutil.copytree(ROOT / "fixtures/good/store/store", scratch.path / STORE)
    installed = subprocess.run(
        [sys.executable, "-m", "pre_commit", "install"],
        cwd=scratch.path,
        env=environment,
        capture_output=True,
        check=False,
    )
    assert installed.returncode == 0, installed.stderr
    return scratch


def test_sound_records_and_files_of_others_can_be_committed(repository: Repository) -> None:
    repository.write("checkpoints/cp_1.json", RECORD)
    repository.write("data/ledger.jsonl", RECORD * 2)
    repository.write("checkpoints/sub/deep.json", RECORD)
    repository.write("package.json", '{"name": "not ours"}')
    repository.write("tsconfig.json", "{ // no JSON at all\n}")
    repository.write("ledger/README.md", "no record")
    done = repository.commit()
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("Passed") == 2


def test_a_torn_record_stops_the_commit_and_is_named(repository: Repository) -> None:
    repository.write("data/ledger.jsonl", RECORD + TORN + RECORD)
    done = repository.commit()
    assert done.returncode == 1, done.stdout
    assert "data/ledger.jsonl:2:" in done.stdout
    assert "SP114" in done.stdout
    assert repository.git("rev-parse", "--verify", "--quiet", "HEAD").returncode == 1
    repository.write("data/ledger.jsonl", RECORD)
    assert repository.commit().returncode == 0


@pytest.mark.parametrize(
    ("name", "matched"),
    [
        ("checkpoints/a.json", True),
        ("checkpoints/run1.jsonl", True),
        ("checkpoints/sub/x.json", True),
        ("a/ledger/b/c/d.jsonl", True),
        ("a/checkpoint.json", True),
        ("ledger.jsonl", True),
        ("my-checkpoints/a.json", False),
        ("checkpoints.jsonl.txt", False),
        ("checkpoints/a.yaml", False),
        ("checkpoints/package/json", False),
        ("store/runs/run-1/ledger.jsonl", False),
        ("store/runs/run-1/journal/0000000001.json", False),
    ],
)
def test_records_are_known_by_the_folders_that_they_lie_below(name: str, matched: bool) -> None:
    hook = HOOKS["safepoint-validate-files"]
    found = re.search(hook["files"], name) and not re.search(hook["exclude"], name)
    assert bool(found) is matched


def test_a_torn_record_deep_below_such_a_folder_stops_the_commit(repository: Repository) -> None:
    repository.write("checkpoints/sub/run1.jsonl", RECORD + TORN + RECORD)
    done = repository.commit()
    assert (done.returncode, "checkpoints/sub/run1.jsonl:2:" in done.stdout) == (1, True), done.stdout


def test_a_damaged_record_of_a_store_stops_the_commit(repository: Repository) -> None:
    assert repository.commit().returncode == 0
    journal = repository.path / STORE / "runs/run-1/journal"
    record = journal / "0000000002.json"
    record.write_text(record.read_text().replace("worker", "somebody"))
    done = repository.commit()
    assert done.returncode == 1, done.stdout
    assert "SP303" in done.stdout
    assert f"{STORE}/runs/run-1/journal/0000000003.json:1:" in done.stdout


def test_a_record_taken_out_of_a_store_stops_the_commit(repository: Repository) -> None:
    assert repository.commit().returncode == 0
    (repository.path / STORE / "runs/run-1/journal/0000000003.json").unlink()
    done = repository.commit()
    assert done.returncode == 1, done.stdout
    assert "SP301" in done.stdout


def test_a_store_that_is_not_there_stops_the_commit(repository: Repository) -> None:
    shutil.rmtree(repository.path / STORE)
    done = repository.commit()
    assert done.returncode == 1, done.stdout
    assert "SP001" in done.stdout


def test_pre_commit_accepts_the_manifest() -> None:
    command = [sys.executable, "-m", "pre_commit", "validate-manifest", ROOT / ".pre-commit-hooks.yaml"]
    subprocess.run(command, check=True)
