"""Every version of a record from every other: pure steps, and the engine that guards them.

Whole stores are another room's (``moving``).
"""

from safepoint.migrate.engine import JournalMigrator, Migrator, migrate, migrate_lines, migrate_record
from safepoint.migrate.record import Migrated, upgrade

__all__ = ["JournalMigrator", "Migrated", "Migrator", "migrate", "migrate_lines", "migrate_record", "upgrade"]
