"""How kernels are configured before IREE generates code for them: tiles, work-groups, padding."""
