"""Single damages of good cases: what can be done to a store, where, and what of it no validator can see."""
