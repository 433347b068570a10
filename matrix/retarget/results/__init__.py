"""What happened to each target, as records on disk, and the plan of a CI run that they answer to."""
