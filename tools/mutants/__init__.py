"""Seeded faults: each is put into a copy of the project, and the tests there must notice."""
