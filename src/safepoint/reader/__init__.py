"""From the bytes of a store to folded runs: the one place that composes store, schemas, migration and model.

Decided here: which text is a record of which run, and what a text that is none becomes. Nothing is ever written.
"""

from safepoint.reader.artifacts import gather_artifacts
from safepoint.reader.grouping import Scan
from safepoint.reader.scan import load_run, scan, scan_bytes, scan_files, scan_folder, scan_loose
from safepoint.reader.texts import Scrutiny

__all__ = [
    "Scan",
    "Scrutiny",
    "gather_artifacts",
    "load_run",
    "scan",
    "scan_bytes",
    "scan_files",
    "scan_folder",
    "scan_loose",
]
