"""OpenCL C from IREE's SPIR-V dialect: types, values, statements, and one kernel for each entry point."""
