"""The new payload schema restricts members that no schema names; the old one let any through.

Why: Whatever a writer put beside the declared members is refused now. Nobody declared it, so nobody knows what is
there before the stored payloads are tried.

Fix: Leave the object open, declare what is really stored, or try the stored payloads: `safepoint compat OLD NEW
STORE`.
"""

NAME = "payload-object-closed"
SEVERITY = "error"
SECTION = "payload-compatibility"
