"""The payload of a record in a journal would change, and the records behind it were not given.

Why: each record of a journal names the digest of the one before it. With one record rewritten alone, the chain would be
broken, and a guard would hand the run over.

Fix: migrate the whole store, or the JSON Lines file that holds the whole journal of the run: then the records behind
are linked anew. A program that resumes can migrate what it has read in memory, with PayloadMigrations.migrate.
"""

NAME = "not-rewritten-alone"
SEVERITY = "error"
SECTION = "payload-migrations"
