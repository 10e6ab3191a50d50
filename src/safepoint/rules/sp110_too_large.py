"""One JSON text is larger than the limit.

Why: A record is read whole, by readers with little memory too. The limit is 16 MiB for each text: a file,
or one line of a JSON Lines file. Nothing in a larger one is looked at.

Fix: Move the large part (a transcript, a document, an image) into an artifact, and keep its digest and URI
in `artifactRefs`. If the file is a list of records, write it as JSON Lines, one record on each line.
"""

NAME = "too-large"
SEVERITY = "error"
SECTION = "strict-json"
