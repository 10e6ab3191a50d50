"""The guard asked about stored runs: about one (``single``), about all of a store (``fleet``)."""
