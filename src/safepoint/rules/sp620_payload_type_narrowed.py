"""The new payload schema lets through fewer types than the old one.

Why: A stored payload of a type that is no longer accepted was right when it was written. The new code refuses it,
or takes it for something else, at the moment when a dead run should go on.

Fix: Keep the old type beside the new one until no run holds it, or write a payload migration that converts the
value and give the new shape a new version.
"""

NAME = "payload-type-narrowed"
SEVERITY = "error"
SECTION = "payload-compatibility"
