"""What Jones and Ligon 2005 show of clusters that share jobs, from a store."""
