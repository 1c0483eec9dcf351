"""Answers to commands, and refusals."""

from typing import Final

from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx.engine.v1 import error_pb2, refusal_pb2
from opolyx_engine.command import SENTENCES, Answer
from opolyx_rules import reasons
from opolyx_rules.reasons import Refusal

_SENTENCES: Final = {**reasons.NAMES, **SENTENCES}


def refusal_to_proto(refusal: Refusal) -> refusal_pb2.Refusal:
    """Why an action was refused."""
    return refusal_pb2.Refusal(
        reason=refusal_pb2.RefusalReason.ValueType(refusal.reason),
        rule_id=refusal.rule,
        message=_SENTENCES[refusal.reason],
        numbers=dict(refusal.numbers),
    )


def answer_to_proto(command_id: str, answer: Answer) -> pb.CommandResult:
    """The answer to a command."""
    result = pb.CommandResult(command_id=command_id)
    if answer.refusal is not None:
        result.refusal.CopyFrom(refusal_to_proto(answer.refusal))
    elif answer.retry_after_ms:
        result.retry.retry_after_ms = answer.retry_after_ms
        result.retry.reason = error_pb2.ErrorReason.Value(f"ERROR_REASON_{answer.retry_reason}")
    else:
        result.accepted.seq = answer.seq
    return result
