"""An object in a store has a name that the layout does not know, so nobody reads it.

Numbered names have ten digits, more only when the number needs them: `journal/0000000012.json`, not
`journal/12.json`. A run's folder is the run's id with every byte outside `[A-Za-z0-9._-]` written `=XX`.

Why: A name is what a writer claims. If a second spelling of the same number counted as well, two writers
could both win it. A record under such a name may hide an attempt that was really made.

Fix: Find out who wrote it. If it is a record, have its writer use the name of the layout; otherwise move it
out.
"""

NAME = "unknown-name"
SEVERITY = "warning"
SECTION = "layout"
