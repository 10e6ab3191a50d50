"""The new payload schema demands more of payloads that have a certain member.

Why: Payloads with the member and without what it now demands were accepted when they were stored.

Fix: Drop the condition for what is read, or write a payload migration that adds what is missing.
"""

NAME = "payload-condition-added"
SEVERITY = "error"
SECTION = "payload-compatibility"
