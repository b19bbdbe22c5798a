<<<<<<< HEAD
"""Tests of the package `reorderer`."""
=======
"""Tests of the reorderer package."""
>>>>>>> broker
