"""The page: results and their history as a static site that opens offline."""
