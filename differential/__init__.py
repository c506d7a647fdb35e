"""Runs both launchers on recording drivers and compares what they launched."""
