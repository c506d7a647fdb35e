"""Jinja2 templates and frozen facts that regenerate the legacy launchers."""
