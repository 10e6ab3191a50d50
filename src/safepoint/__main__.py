"""``python -m safepoint``."""

from __future__ import annotations

from safepoint.cli.main import main

if __name__ == "__main__":
    main()
