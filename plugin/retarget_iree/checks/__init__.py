"""The kind `check`: modules that check themselves, and their rewriting for tools that know no check module."""
