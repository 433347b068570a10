"""The shared store behind the cache: what other machines have made, read through and written behind."""
