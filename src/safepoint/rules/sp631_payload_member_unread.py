"""The new payload schema declares a member no more, and still lets it through.

Why: Nothing is refused, and the code overlooks what is stored. A renamed member of an open schema looks exactly
like this: the old name is passed over, the new one is missing.

Fix: Where it was renamed, write a payload migration that renames it in what is stored. Where it is of no use any
more, leave it declared, or pass with `--fail-on error`.
"""

NAME = "payload-member-unread"
SEVERITY = "warning"
SECTION = "payload-compatibility"
