"""Echo kernels launched on a device by both launchers, and what the device saw held against the record."""
