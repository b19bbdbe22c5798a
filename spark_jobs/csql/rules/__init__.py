"""The rewrites of the algebra: one a file, a function of the whole plan that changes no result."""
