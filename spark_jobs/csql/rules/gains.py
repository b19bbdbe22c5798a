"""What each rewrite saves, in its own unit: the counters of the reference evaluator."""

from __future__ import annotations

UNITS = {
    "push_selections": "tuples",
    "push_frequency": "evaluations",
    "compose_frequencies": "evaluations",
    "evaluate_at_outer": "evaluations",
    "drop_unseen": "tuples",
    "share_panes": "rows aggregated",
    "answer_from_registered": "tuples",
}
"""tuples: rows that enter windows; evaluations: snapshots taken, rows picked, rows that continuous operators put out;
rows aggregated: rows that aggregates read, a pane counting as one."""
