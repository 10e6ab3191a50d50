"""A run folded from its records: chain, ledger, leases, approvals, branches and recovery episodes."""
