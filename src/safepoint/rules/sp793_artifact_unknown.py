"""Nobody looked at an artifact of the checkpoint.

Why: It lies outside the store or names no digest, and unknown never counts as yes.

Fix: Let the guard look, with `--allow-artifact-scheme` and the scheme of its URL; or look yourself, and give
what you found in facts.artifacts.
"""

NAME = "artifact-unknown"
SEVERITY = "warning"
SECTION = "guard-world"
