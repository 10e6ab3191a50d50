"""An approval was granted by somebody else than was asked.

Why: Whoever asked one person wanted that person's word, and not anybody's.

Fix: Ask again, and let the one who is asked answer; a question to nobody in particular names no actor.
"""

NAME = "approved-by-another"
SEVERITY = "error"
SECTION = "guard-world"
