"""The kind `filecheck`: what a compiler's output must say."""
