"""The record was written for a newer major version than this Safepoint reads.

Why: A new major may change what known members mean. Reading on would drop members or act on a wrong
meaning, so the bytes are left untouched and nothing is judged.

Fix: Upgrade Safepoint. Do not lower the version in the file.
"""

NAME = "newer-major"
SEVERITY = "error"
SECTION = "versions"
