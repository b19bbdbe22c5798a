"""Side conditions that several rewrites share."""

from __future__ import annotations

from spark_jobs.csql.edges import Monotonicity, edge
from spark_jobs.csql.plan import Frequency, Join, Plan, Window, inputs, scans


def window_in_time(plan: Frequency) -> bool:
    """Whether what the frequency is applied to has no tuple window right below.

    A tuple window is evaluated in time only where a tuple came since the previous instant: moving its frequency, or
    removing tuples below it, changes which instants these are.
    """
    return not (isinstance(plan.child, Window) and plan.child.length.unit == "tuples")


def keys_decide(plan: Plan) -> bool:
    """Whether equal keys may make this edge ignore rows (004, 2.2), so that fewer rows below could show others."""
    found = edge(plan)
    if found.kind == "snapshot" or found.monotonicity is not Monotonicity.STRICT:
        return False
    return any(scan.stream.key for scan in scans(plan)) or _has_own_key(plan)


def _has_own_key(plan: Plan) -> bool:
    return (isinstance(plan, Join) and bool(plan.key)) or any(map(_has_own_key, inputs(plan)))
