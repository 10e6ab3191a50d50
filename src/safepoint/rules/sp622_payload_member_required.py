"""The new payload schema requires a member that the old one did not.

Why: Payloads that were stored without it are refused. A default in the schema does not help: schemas do not fill
in values.

Fix: Make the member optional and let the code use a default, or write a payload migration that adds it.
"""

NAME = "payload-member-required"
SEVERITY = "error"
SECTION = "payload-compatibility"
