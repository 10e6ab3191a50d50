"""The record does not say its schemaVersion.

Why: A missing version is never taken for the current one: the same member may mean something else
in another version. Only a ledger record of v2 may leave it out.

Fix: Write the version that the record was made for. Migrate it afterwards if you want a newer one.
"""

NAME = "missing-version"
SEVERITY = "error"
SECTION = "versions"
