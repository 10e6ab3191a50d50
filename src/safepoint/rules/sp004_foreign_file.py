"""A file met in a folder is not of this format, and was left alone.

Why: Folders hold other JSON too. It is reported, so that a record that lost its `recordType` does not
vanish unseen.

Fix: Nothing, if the file belongs there. Otherwise give it its `recordType`, or move it elsewhere.
"""

NAME = "foreign-file"
SEVERITY = "info"
SECTION = "inputs"
