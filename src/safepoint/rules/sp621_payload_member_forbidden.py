"""The new payload schema forbids a member that the old one declares or lets through.

Why: Every stored payload that has the member is refused. A member that was taken out of `properties` of a closed
schema is the usual case, and a renamed one looks the same.

Fix: Keep the member, perhaps as one that is no longer written; or write a payload migration that removes or
renames it.
"""

NAME = "payload-member-forbidden"
SEVERITY = "error"
SECTION = "payload-compatibility"
