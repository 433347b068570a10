"""Parent side of compiling: resolution of configs, the pool of compile workers, one compile per key."""
