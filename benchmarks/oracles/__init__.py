"""What must agree with scorekit: databases, interpreters and other libraries."""
