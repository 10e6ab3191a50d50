"""A record names a payload schema that the configuration does not list.

Why: The payload was not checked. A misspelt name or a version that was forgotten would go on unnoticed, since
nothing else looks into a payload.

Fix: Add the name and the file of its JSON Schema to payload-schemas in safepoint.toml, or correct the name
in the writer. Where the store is another project's, ignore this code for its path.
"""

NAME = "payload-schema-unknown"
SEVERITY = "warning"
SECTION = "payload-schema-names"
