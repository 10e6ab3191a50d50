"""The file or object is empty, or holds only white space.

Why: An empty file is what a crash leaves behind between creating a file and filling it. It is not the same
as no record: something was going to be written here, and perhaps a newer state existed.

Fix: Restore the record from where it came from. If it never existed, remove the file yourself, after
looking at what its neighbours say. Writers avoid this by writing a temporary file first and linking it into
its place when it is complete.
"""

NAME = "empty-text"
SEVERITY = "error"
SECTION = "strict-json"
