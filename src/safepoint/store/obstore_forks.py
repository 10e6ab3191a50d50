"""Whether this process came, by a fork, out of one in which obstore was loaded.

obstore's threads are not in such a process, and every call would wait for them for ever. Whoever loaded it: this is
imported before obstore is needed, and costs nothing, so that a program's own use of obstore is seen as well. A fork
that was over before leaves no trace that could be found here.
"""

from __future__ import annotations

import os
import sys


class ForkedError(Exception):
    """obstore would wait for ever in this process."""


_orphaned = False


def orphaned() -> bool:
    """Whether obstore must not be called in this process."""
    return _orphaned


def _look() -> None:
    global _orphaned  # noqa: PLW0603 - a fact of the process, as the fork is
    # loaded or used makes no difference that could be seen from here
    _orphaned = _orphaned or sys.modules.get("obstore") is not None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_look)
