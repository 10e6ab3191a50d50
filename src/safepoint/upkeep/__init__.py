"""What is done to stored runs that nobody works on: packed, pruned, retracted, anchored, repaired.

Decided here: that nothing is removed before what replaces it was read back, and that a source is never repaired in
place. Not decided here: what a sound run is (``reader``, ``model``, ``rules``).
"""
