"""A payload does not fit the schema that its record names.

Why: Whoever resumes the run reads the saved state with today's code. A state of another shape is found out
there, after the crash, when nothing can be asked any more; or it is read as something else.

Fix: Where the writer is wrong, mend the writer; the record itself stays as it is. Where the shape has changed,
give the new shape a new version, such as support-agent/state@5, and configure its schema beside the old one.
"""

NAME = "payload-invalid"
SEVERITY = "error"
SECTION = "payload-schema-names"
