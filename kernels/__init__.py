"""Device code, and kernels that are written per signature."""
