import os

hip = os.environ.get("STAND_IN_HIP") or None
cuda = None if hip else "13.0"
