"""The ten points, one module each: ``judge(case)`` looks at one run and answers."""
