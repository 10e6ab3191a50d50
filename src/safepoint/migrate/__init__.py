"""Every version of a record from every other: pure steps, the engine that guards them, and whole stores.

Whole stores are in ``migrate.stores``, which is imported by name: reading old records does not need it.
"""

from safepoint.migrate.engine import Migrated, migrate_lines, migrate_record, upgrade

__all__ = ["Migrated", "migrate_lines", "migrate_record", "upgrade"]
