"""The result of a step of a payload migration breaks the JSON Schema of the version that it leads to.

Why: the code that resumes reads the new version, and relies on its schema. What a step makes is checked before the next
step and before anything is written.

Fix: mend the step, or the schema if it demands more than was meant.
"""

NAME = "payload-step-result-invalid"
SEVERITY = "error"
SECTION = "payload-migrations"
