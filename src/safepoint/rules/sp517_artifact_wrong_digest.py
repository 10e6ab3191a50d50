"""An artifact has the right length and other bytes than its reference says.

Why: It was changed after it was recorded: what it holds is not what the run was judged by.

Fix: Restore the bytes from a copy; an artifact is written once, under the digest of its content.
"""

NAME = "artifact-wrong-digest"
SEVERITY = "error"
SECTION = "artifact-references"
NEEDS = ("artifacts",)
ABOUT = "artifacts"
