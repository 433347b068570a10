"""The host program from IREE's `util`, `stream`, `hal` and `cf` ops."""
