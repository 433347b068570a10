"""Device profiles → IREE's targets: `#hal.device.target`, or the flags of llvm-cpu, CUDA and ROCm."""
