"""An artifact is lost, and the step that made it makes it again.

Why: That step only reads, and nothing was done since the artifact was there, so that another one in its place
contradicts nothing.

Fix: Run the step, and take a checkpoint that names the new artifact.
"""

NAME = "artifact-remade"
SEVERITY = "warning"
SECTION = "guard-world"
