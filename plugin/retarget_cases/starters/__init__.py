"""What `retarget init` writes for modules whose functions take arguments."""
