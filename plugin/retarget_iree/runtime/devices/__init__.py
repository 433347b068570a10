"""The devices that the drivers list: what each is physically, and which one a runtime config names."""
