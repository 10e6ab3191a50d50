"""A repair has set something of this run aside, so that what is left is not all that was recorded.

``safepoint repair`` copies a damaged store and leaves out what is not sound, together with what lies behind it in its
log. Beside what is left of a run it writes a ``quarantine`` document, which lists what was set aside, why, and where
the bytes lie now.

Why: What was set aside may be the record that says that something was sent. So the guard hands the run over to a
human for as long as the document lies there.

Fix: Look at what the document lists. Settle what it announces with evidence from outside, or restore the record from
another copy of the store. A run whose effects are all accounted for may be started again as a new one; to let this
one go on, whoever answers for that removes the document.
"""

NAME = "set-aside"
SEVERITY = "warning"
SECTION = "repair"
