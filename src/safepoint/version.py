"""The tool's version; the format has versions of its own (see ``core.version``)."""

__version__ = "0.1.0"
