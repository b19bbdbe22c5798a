"""What a Kafka error means to us: the one place that sorts them.

::

    KafkaError ─┬─ fenced, forbidden, gone, fatal ──> ClusterError   stop, and say why
                └─ abortable, unknown outcome ──────> SessionLost    begin again where the offsets stand
"""

from __future__ import annotations

from typing import NoReturn

from confluent_kafka import KafkaError, KafkaException

from reorderer.errors import ClusterError

_FENCED = {
    KafkaError._FENCED,
    KafkaError.PRODUCER_FENCED,
    KafkaError.INVALID_PRODUCER_EPOCH,
    KafkaError.FENCED_INSTANCE_ID,
}
_FORBIDDEN = {
    KafkaError._AUTHENTICATION,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
}
UNWRITABLE = {KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.INVALID_RECORD, KafkaError.INVALID_TIMESTAMP}
"""A broker's refusals of one record, which no retry will change."""

_GONE = {KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE}


class SessionLost(Exception):  # noqa: N818  # an event of the loop, which recovers; no user ever sees it raised
    """The open transaction is lost or of unknown outcome: nothing in memory may be used again."""


def explained(error: KafkaError) -> str:
    """Return the error in words, without librdkafka's own prefix."""
    text = error.str() or error.name()
    return text.removeprefix("Local: ").removeprefix("Broker: ")


def is_fenced(error: KafkaError) -> bool:
    """Tell whether another instance has taken our place; a client says it of itself in words only."""
    return error.code() in _FENCED or (error.code() == KafkaError._FATAL and "fenced" in explained(error))


def raise_for(error: KafkaError, doing: str) -> NoReturn:
    """Raise what the error means while `doing` something."""
    code = error.code()
    if is_fenced(error):
        raise ClusterError(
            f"another instance took over while {doing}: {explained(error)}",
            hint="give each instance its own --instance-id",
        )
    if code in _GONE:
        raise ClusterError(f"records that are still needed are gone, while {doing}: {explained(error)}")
    if code in _FORBIDDEN or error.fatal():
        raise ClusterError(f"{doing} failed: {explained(error)}")
    raise SessionLost(f"{doing}: {explained(error)}")


def error_of(exception: KafkaException) -> KafkaError:
    """Return the error inside an exception."""
    error: KafkaError = exception.args[0]
    return error
