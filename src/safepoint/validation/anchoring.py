"""A validation against anchors: what is looked at besides the runs, and what is said of it.

Decided here: that the anchors are read before the store, so that a store which grows meanwhile never looks too short;
and what is said of a run that is not there. Not decided here: what contradicts an anchor (``reader.comparing``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from safepoint import rules
from safepoint.core.fault import Fault
from safepoint.core.finding import Checked
from safepoint.reader import Scan
from safepoint.reader.anchors import load_anchors
from safepoint.reader.comparing import compare_document, compare_loose, missing
from safepoint.store import Store
from safepoint.validation.results import NOTHING, Options, Result

if TYPE_CHECKING:
    from safepoint.reader.anchors import Anchors


def with_anchors(options: Options) -> tuple[Options, Sequence[Checked]]:
    """The options with what the anchors say, and what is wrong with the anchors themselves.

    Where there is no readable anchor, nothing is compared, and that is said.
    """
    assert options.anchor is not None
    anchors = load_anchors(options.anchor, options.anchor_storage_options, run_id=options.run)
    wrong = []
    for url, found in groupby(anchors.findings(options.excerpts), key=lambda finding: finding.url):
        wrong.append(Checked("file" if anchors.sequence else "input", url, url, 0, tuple(found)))
    return replace(options, anchored=anchors if anchors.sequence else None), wrong


def loose_contradictions(
    anchors: Anchors | None, loose: Sequence[Scan], stored: Collection[str], store: Store
) -> Mapping[int, Sequence[Fault]]:
    """What contradicts the anchors in runs without a folder, by their index; the folder of a run decides for it."""
    if anchors is None:
        return {}
    of_no_folder = [index for index, one in enumerate(loose) if one.run_id not in stored]
    found = compare_loose(anchors, [loose[index] for index in of_no_folder], store)
    return {of_no_folder[index]: faults for index, faults in found.items()}


def what_changed(anchors: Anchors, store: Store) -> Iterator[Result]:
    """What became of the store's own description.

    Raises:
        StoreError: it cannot be read.
    """
    fault = compare_document(anchors, store)
    if fault is not None and fault.place is not None:
        url = fault.place.url
        yield Checked("file", url, url, 0, (rules.to_finding(fault, None),)), NOTHING


def what_is_missing(anchors: Anchors, seen: Collection[str], store: Store) -> Iterator[Result]:
    """The anchored runs of which nothing was met."""
    for run_id, lost in missing(anchors, seen, store):
        yield _of_run(run_id, lost, store), NOTHING


def one_missing(anchors: Anchors | None, run_id: str, store: Store) -> Checked | None:
    """What is said of a run that is wanted and not there, where an anchor has seen it; else None."""
    if anchors is None or run_id not in anchors.runs:
        return None
    [(_, lost)] = missing(anchors, (), store)
    return _of_run(run_id, lost, store)


def _of_run(run_id: str, fault: Fault, store: Store) -> Checked:
    return Checked("run", run_id, store.url, 0, (rules.to_finding(fault, None),))
