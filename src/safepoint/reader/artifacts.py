"""What the store itself can tell of a run's artifacts, gathered before the guard is asked.

Only artifacts inside the store are opened; what lies elsewhere is *unknown*, never assumed to be there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from safepoint.core.digest import digest_bytes
from safepoint.model.run import Run
from safepoint.reader.texts import leads_outside
from safepoint.store import AbsentError, Store, StoreError
from safepoint.store.layout import artifact_key, run_prefix


def gather_artifacts(store: Store, run: Run) -> Mapping[str, str]:
    """Artifact id to ``present``, ``missing``, ``damaged`` or ``unknown``, for every checkpoint's references.

    Where several references name one artifact, the worst of what they find counts.
    """
    found: dict[str, str] = {}
    seen: dict[tuple[Any, ...], str] = {}
    for checkpoint in run.checkpoints:
        for reference in checkpoint.value.get("artifactRefs") or ():
            what = (reference.get("uri"), reference.get("digest"), reference.get("size"))
            status = seen.get(what) or seen.setdefault(what, _status(store, run, reference))
            name = str(reference["artifactId"])
            found[name] = max(status, found.get(name, status), key=_WORST_LAST.index)
    return found


_WORST_LAST = ("present", "unknown", "missing", "damaged")


def _status(store: Store, run: Run, reference: Mapping[str, Any]) -> str:
    uri, digest = reference.get("uri"), reference.get("digest")
    if uri is None and digest is None:
        return "unknown"
    if uri is not None and ("://" in uri or leads_outside(uri)):
        return "unknown"
    key = run_prefix(run.run_id) + str(uri) if uri is not None else artifact_key(run.run_id, str(digest))
    try:
        data = store.get(key)
    except AbsentError:
        return "missing"
    except StoreError:
        return "unknown"
    if digest is None:
        return "unknown"
    size = reference.get("size")
    whole = digest_bytes(data) == digest and (size is None or size == len(data))
    return "present" if whole else "damaged"
