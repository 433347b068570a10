"""The artifact of `iree-opencl`: its file format, the host program in it, and the element types of both."""

ARTIFACT_SUFFIX = ".oclx"
