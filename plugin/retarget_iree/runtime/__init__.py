"""Runs artifacts on the HAL drivers of IREE's runtime: devices, modules, signatures. Runs in device workers."""
