"""The record breaks its own version's schema, so it was not migrated; the other findings say how.

Why: a migration maps what a version allows. What lies outside of it has no defined meaning, and a guess would turn a
visible fault into a record that looks sound.

Fix: correct what the other findings name, in a copy, and migrate that; or leave the record at its version.
"""

NAME = "source-invalid"
SEVERITY = "error"
SECTION = "migration"
