"""The request asks to roll back, and names no checkpoint.

Why: Going back as far as somebody happened to mean would do steps again that nobody asked for.

Fix: Name the checkpoint to go back to; `safepoint show` lists them.
"""

NAME = "roll-back-unnamed"
SEVERITY = "error"
SECTION = "guard-integrity"
