"""What is tried: random and written SQL, schemas, services that misbehave; no verdicts."""
