"""A member has no place in the version asked for; it was kept whole under x-v1, x-v2 or x-v3.

Why: nothing that a writer wrote is dropped. The member named by the pointer lies, as it was, in the member x-vN of the
result, where N is the version that it belongs to, and comes back from there when the record migrates the other way.
Readers of the lower version do not look at it.

Fix: nothing to fix. Do not edit or remove the x-vN member as long as the record may have to go back.
"""

NAME = "residue-kept"
SEVERITY = "info"
SECTION = "migration"
