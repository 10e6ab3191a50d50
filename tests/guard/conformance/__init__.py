"""The conformance cases of the guard, one module for each of its layers."""
