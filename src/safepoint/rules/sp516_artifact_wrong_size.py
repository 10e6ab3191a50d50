"""An artifact has another length than its reference says.

Why: It was cut, or written over: what it holds is not what the run was judged by.

Fix: Restore the bytes from a copy; an artifact is written once, under the digest of its content.
"""

NAME = "artifact-wrong-size"
SEVERITY = "error"
SECTION = "artifact-references"
NEEDS = ("artifacts",)
ABOUT = "artifacts"
