"""Start-up: are the four topics there, and fit to be read from and written to without loss?"""

from __future__ import annotations

from reorderer.config import RunConfig
from reorderer.errors import ClusterError
from reorderer.kafka.topics import OUTPUT_ROOM, Cluster, Topic


def check_topics(cluster: Cluster, config: RunConfig) -> Topic:
    """Return the raw topic; raise where the topics are missing or would make us lose a tuple."""
    topics = config.topics
    found = cluster.find(topics.raw, *topics.outputs)
    create = f"create the topics with `reorderer topics create {topics.raw} --partitions N`"
    for name in (topics.raw, *topics.outputs):
        if name not in found:
            raise ClusterError(f"there is no topic {name!r}", hint=create)
    raw = found[topics.raw]
    for name in topics.outputs:
        if found[name].partitions != raw.partitions:
            raise ClusterError(
                f"{name!r} has {found[name].partitions} partitions and {raw.name!r} has {raw.partitions}",
                hint="partition p of the raw topic goes to partition p of the others: the counts must match",
            )
    _check_raw(raw, config)
    for name in (topics.clean, topics.dead):
        _check_room(raw, found[name])
    return raw


def _check_raw(raw: Topic, config: RunConfig) -> None:
    if "compact" in raw.config["cleanup.policy"]:
        raise ClusterError(
            f"{raw.name!r} is compacted: held tuples could vanish before they are released",
            hint="set its cleanup.policy to delete",
        )
    retention_ms = int(raw.config["retention.ms"])
    needed_ms = 2 * (config.quality.max_slack_ms + config.quality.max_future_ms)
    if 0 <= retention_ms < needed_ms:
        raise ClusterError(
            f"{raw.name!r} keeps records for {retention_ms} ms, and tuples may be held for {needed_ms} ms",
            hint=f"set its retention.ms to {needed_ms} or more",
        )
    if config.arrival.source == "broker" and not raw.log_append_time:
        raise ClusterError(
            f"{raw.name!r} is not stamped by the broker (message.timestamp.type is CreateTime)",
            hint="set it to LogAppendTime, or take the arrival from elsewhere (--arrival record, header:NAME or wall)",
        )


def _check_room(raw: Topic, output: Topic) -> None:
    limit, needed = int(output.config["max.message.bytes"]), int(raw.config["max.message.bytes"]) + OUTPUT_ROOM
    if limit < needed:
        raise ClusterError(
            f"{output.name!r} takes messages of {limit} bytes, and one of {raw.name!r} can need {needed}",
            hint=f"set its max.message.bytes to {needed} or more",
        )
