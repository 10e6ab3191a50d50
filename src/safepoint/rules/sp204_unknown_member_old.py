"""A v1 or v2 record has a member that its version does not know.

Why: Those versions had no rule for members of one's own, so it may be an extension or a misspelt
name. Nobody can tell.

Fix: Correct the name, or leave it: a migration to v3 moves the member under an x- name and keeps
its value.
"""

NAME = "unknown-member-old"
SEVERITY = "warning"
SECTION = "unknown-members"
