"""What scorekit is tried on, what it is held against, how often it errs, and what it costs."""
