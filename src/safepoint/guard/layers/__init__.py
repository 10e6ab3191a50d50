"""One module a layer; each has ``judge(case, opinion)`` and knows nothing of the others."""
