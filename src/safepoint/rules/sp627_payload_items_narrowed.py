"""The new payload schema forbids items of an array, or demands some, that the old one did not.

Why: Stored arrays are longer than the new schema allows, or lack an item that it wants to find.

Fix: Let the old arrays through, or write a payload migration that rewrites them.
"""

NAME = "payload-items-narrowed"
SEVERITY = "error"
SECTION = "payload-compatibility"
