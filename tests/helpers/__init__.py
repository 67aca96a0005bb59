"""What tests need and are not: tiny models that are trained or made on the spot."""
