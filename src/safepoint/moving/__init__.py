"""Whole stores, moved: what is copied where, and what a copy says of its original."""
