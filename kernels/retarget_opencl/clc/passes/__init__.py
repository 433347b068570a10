"""What is done to a kernel's statements after they are written."""
