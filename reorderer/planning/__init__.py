"""What reordering would do to a recorded stream: in hindsight, and by each estimator."""
