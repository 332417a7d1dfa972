"""How often intervals hold and verdicts err, through the functions that users call."""
