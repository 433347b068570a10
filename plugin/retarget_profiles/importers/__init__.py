"""Reports of other tools → device profiles: vulkaninfo, clinfo, iree-cpuinfo, clang and iree-compile."""
