"""Strict JSON, digests, pointers, versions, ids, times and faults: pure values, no I/O."""
