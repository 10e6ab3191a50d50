"""There is no way from the record's version to the version asked for.

Why: this version of Safepoint knows v1, v2 and v3. A record of a newer minor version may hold members whose meaning
is not known here, so it is kept as it is and never lowered; and no record is raised to a version that does not exist.

Fix: ask for v1, v2 or v3; to lower a record of a newer minor version, use a Safepoint that knows that version.
"""

NAME = "no-migration-path"
SEVERITY = "error"
SECTION = "migration"
