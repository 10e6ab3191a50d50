"""Something could not be migrated and is in the copy byte for byte as it was.

Why: with --keep-going one record that cannot be migrated does not stop all the others, and nothing is dropped either:
it may be the last trace of an effect. Whoever reads the copy meets the same damage as in the source.

Fix: The other findings at the same place say what is wrong. Mend or set aside the record in the source (safepoint
repair writes a copy), then migrate to a new place.
"""

NAME = "kept-as-it-was"
SEVERITY = "warning"
SECTION = "stores"
