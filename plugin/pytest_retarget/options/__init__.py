"""The options, ini keys and environment variables of the plugin: declared, read and checked."""
