"""What the other run targets of a module say about the failure of one."""
