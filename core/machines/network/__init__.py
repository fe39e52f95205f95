"""Network: clusters that share jobs over links."""
