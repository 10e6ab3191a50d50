"""Safepoint: checkpoints of AI-agent runs that you can prove are safe to resume from."""
