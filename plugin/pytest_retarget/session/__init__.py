"""What the items of a session share: the declarations read, their marks, the engine, the cache folder, progress."""
