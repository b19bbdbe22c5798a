"""What one instance is doing, in numbers: for people on one line, for programs as JSON."""

from __future__ import annotations

import time
from typing import Any

from reorderer.service import Service

BOOKS = ("in", "clean", "late", "dead", "held")


class Stats:
    """Snapshots of a service; the rate of each is that since the snapshot before it."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._seen: dict[int, int] = {}
        self._taken_s = time.monotonic()

    def snapshot(self, *, final: bool = False) -> dict[str, Any]:
        """Return the numbers of each partition of this instance and their totals.

        `in = clean + late + dead + held` holds for each of them: since the partition's first record, over all restarts.
        """
        now_s = time.monotonic()
        elapsed_s = max(now_s - self._taken_s, 1e-3)
        partitions = [self._partition(number, elapsed_s) for number in sorted(self._service.partitions)]
        self._taken_s = now_s
        total: dict[str, Any] = {name: sum(row[name] for row in partitions) for name in BOOKS}
        judged = total["clean"] + total["late"] + total["held"]
        total["rate"] = round(sum(row["rate"] for row in partitions), 1)
        total["drop_ratio"] = total["late"] / judged if judged else 0.0
        return {
            "time_ms": time.time_ns() // 1_000_000,
            "final": final,
            "transactions": self._service.transactions,
            "restarts": self._service.restarts,
            "total": total,
            "partitions": partitions,
        }

    def _partition(self, number: int, elapsed_s: float) -> dict[str, Any]:
        partition = self._service.partitions[number]
        core, books = partition.core, partition.books()
        arrived = books["in"] - self._seen.get(number, books["in"])
        self._seen[number] = books["in"]
        frontier_ms = core.frontier[0]
        return {
            "partition": number,
            **books,
            "rate": round(arrived / elapsed_s, 1),
            "position": partition.position,
            "frontier_ms": frontier_ms if frontier_ms > 0 else None,
            "slack_ms": core.slack_ms,
            "drop_ratio": core.drop_ratio,
            "bound": core.config.dratio,
            "rebuilding": not partition.settled,
        }


def human(snapshot: dict[str, Any]) -> str:
    """Return a snapshot on one line."""
    total = snapshot["total"]
    counts = ", ".join(f"{total[name]:,} {name}" for name in BOOKS)
    slacks = [row["slack_ms"] for row in snapshot["partitions"] if row["slack_ms"] is not None]
    slack = f", slack {max(slacks) / 1_000:.2f} s" if slacks else ""
    bounds = [row["bound"] for row in snapshot["partitions"] if row["bound"] is not None]
    bound = f" of {bounds[0]:.2%} allowed" if bounds else ""
    return f"{counts}; {total['rate']:,.0f} a second{slack}, dropped {total['drop_ratio']:.3%}{bound}"
