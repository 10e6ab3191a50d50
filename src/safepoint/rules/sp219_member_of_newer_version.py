"""A record has a member that only a newer version of its kind has.

Why: Either the version is wrong, or a writer mixed two versions. A reader of the older version
would not see what the member says, such as a lease epoch.

Fix: Write the version that the message names, with all that it requires, or leave the member out.
Do not lower versions.
"""

NAME = "member-of-newer-version"
SEVERITY = "error"
SECTION = "unknown-members"
