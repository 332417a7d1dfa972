"""What scorekit costs, beside others and as the data grow."""
