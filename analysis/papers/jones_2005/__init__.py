"""Results of Jones and Ligon 2005 on clusters that share jobs, from a store."""
