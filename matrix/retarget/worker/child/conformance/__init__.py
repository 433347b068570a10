"""The checks of a driver without a compiler: memory, copies, events, maps, limits. One check is one request."""
