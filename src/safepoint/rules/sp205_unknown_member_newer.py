"""A record of a newer minor version has a member that this version of Safepoint does not know.

Why: Minor versions only add members that a reader may do without. The member is kept through
validation and migration.

Fix: Nothing has to be done. Upgrade Safepoint to have the member checked as well.
"""

NAME = "unknown-member-newer"
SEVERITY = "info"
SECTION = "unknown-members"
