"""Wire messages to the SDK's values and back. With `_transport` the only file that knows both.

A value class has the fields of its message, under the same names. So one reader serves them all:
built from the message's descriptor and the class's annotations on first use, then kept.
Tests walk the descriptors and fail on a message, field or enum value without a counterpart.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from operator import attrgetter
from typing import Any, Final, TypeVar, cast, get_args, get_type_hints

from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from opolyx.engine.v1 import action_pb2, engine_service_pb2
from opolyx_sdk import (
    _frames,
    accounts,
    actions,
    decisions,
    enums,
    events,
    game_summary,
    matches,
    offers,
    oversight,
    profiles,
    refusals,
    rooms,
    seats,
    updates,
    views,
)

T = TypeVar("T")

_ENGINE: Final = "opolyx.engine.v1."
_CLASSES: Final[dict[str, type]] = {
    **{_ENGINE + one.__name__: one for one in actions.ACTION_TYPES},
    **{_ENGINE + one.__name__: one for one in events.EVENT_TYPES},
    **{
        _ENGINE + one.__name__: one
        for one in (
            views.GameView,
            views.PlayerView,
            views.PropertyView,
            views.TurnView,
            views.AuctionView,
            views.ClaimView,
            views.DebtView,
            views.OfferView,
            views.SeatResult,
            views.ResultView,
            seats.Seat,
            seats.SeatCard,
            decisions.Decision,
            decisions.TradeTemplate,
            decisions.PartnerSquares,
            refusals.Refusal,
            updates.HouseRules,
            game_summary.GameSummary,
            oversight.OperatedGame,
            oversight.StoreFailure,
            _frames.AuctionPart,
            _frames.DebtsPart,
            _frames.OffersPart,
            _frames.GameDelta,
            _frames.Snapshot,
            _frames.Accepted,
            _frames.Retry,
            _frames.CommandResult,
            _frames.Detached,
            _frames.Draining,
            _frames.Pong,
            _frames.Presence,
            _frames.Attached,
        )
    },
    _ENGINE + "Update": _frames.UpdateFrame,
    _ENGINE + "CheckTradeResponse": decisions.TradeVerdict,
    _ENGINE + "InspectGameResponse": oversight.InspectedGame,
    **{
        "opolyx.matchmaker.v1." + one.__name__: one
        for one in (
            rooms.Room,
            rooms.RoomSeat,
            rooms.RoomOptions,
            matches.Waiting,
            matches.Widened,
            matches.Found,
            offers.BotOffer,
            offers.OfferTaken,
            offers.BotSeated,
            offers.BotReleased,
        )
    },
    "opolyx.matchmaker.v1.SeatCard": seats.SeatCard,
    "opolyx.matchmaker.v1.GetCurrentGameResponse": matches.CurrentGame,
    **{
        "opolyx.progression.v1." + one.__name__: one
        for one in (
            profiles.Profile,
            profiles.Rating,
            profiles.Award,
            profiles.AwardTerm,
            profiles.Card,
            profiles.Level,
            profiles.LeaderboardRow,
            oversight.AuditReport,
            oversight.Drift,
            oversight.DeadLetter,
            oversight.EntitlementChange,
            oversight.Signal,
        )
    },
    **{"opolyx.identity.v1." + one.__name__: one for one in (accounts.Account, accounts.Token)},
}
_NAMES: Final = {cls: name for name, cls in reversed(_CLASSES.items())}
"""Of two messages with the same class, the first: a seat's card is the game's and the room's."""
_UNIONS: Final = frozenset({"Action", "Event"})
"""Messages that are nothing but a choice between others: the choice stands for them."""


def read(message: Message, kind: type[T]) -> T:
    """The value of a message, which must be of the class `kind`."""
    value = _value(message)
    if not isinstance(value, kind):
        raise TypeError(f"{message.DESCRIPTOR.full_name} is no {kind.__name__}")
    return value


def read_all(messages: Iterable[Message], kind: type[T]) -> tuple[T, ...]:
    """The values of messages, which must all be of the class `kind`."""
    return tuple(read(message, kind) for message in messages)


def read_frames(frames: Iterable[engine_service_pb2.Frame]) -> list[_frames.Frame]:
    """The frames of a batch; kinds newer than this SDK are left out."""
    return [
        _frames.Frame(frame.game_id, cast(_frames.FrameKind, _value(getattr(frame, kind))))
        for frame in frames
        if (kind := frame.WhichOneof("kind")) is not None
    ]


def write_action(action: actions.Action) -> action_pb2.Action:
    """The message of an action.

    Raises:
        TypeError: it is none.
        ValueError: a number in it is out of range.
    """
    name = _ACTION_FIELDS.get(type(action))
    if name is None:
        raise TypeError(f"{action!r} is no action")
    message = action_pb2.Action()
    body = getattr(message, name)
    body.SetInParent()
    for one in dataclasses.fields(action):
        value = getattr(action, one.name)
        if isinstance(value, tuple):
            getattr(body, one.name).extend(value)
        else:
            setattr(body, one.name, value)
    return message


def write(value: object) -> Message:
    """The message of a value; the opposite of `read`. For servers that are made of values."""
    pool = descriptor_pool.Default()
    return _write_as(pool.FindMessageTypeByName(_NAMES[type(value)]), value)


def fill(message: Message, values: Mapping[str, object]) -> None:
    """Set fields of a message to values; an absent value, or one that is no field, sets nothing."""
    for name, value in values.items():
        if value is None or name not in message.DESCRIPTOR.fields_by_name:
            continue
        field: Any = message.DESCRIPTOR.fields_by_name[name]
        if not _is_repeated(field):
            _set(message, field, value)
        elif isinstance(value, Mapping):
            getattr(message, name).update(value)
        elif isinstance(value, Iterable):
            kind = field.message_type
            convert = partial(_written, kind) if kind is not None else _same
            getattr(message, name).extend([convert(one) for one in value])


def write_frame(frame: _frames.Frame) -> engine_service_pb2.Frame:
    """The message of a frame."""
    message = engine_service_pb2.Frame(game_id=frame.game_id)
    kind = write(frame.kind)
    for field in message.DESCRIPTOR.oneofs_by_name["kind"].fields:
        if field.message_type is kind.DESCRIPTOR:
            _set(message, field, frame.kind)
    return message


def read_request(message: engine_service_pb2.PlayRequest) -> _frames.Request | None:
    """What a client asks for on its stream; None for what is newer than this SDK."""
    match message.WhichOneof("kind"):
        case "attach":
            attach = message.attach
            after = attach.after_seq if attach.HasField("after_seq") else None
            return _frames.Attach(attach.game_id, after, attach.spectator)
        case "command":
            command = message.command
            action = cast(actions.Action, _value(command.action))
            return _frames.Command(
                command.game_id,
                command.command_id,
                command.decision_id,
                action,
                command.traceparent,
            )
        case "detach":
            return _frames.Detach(message.detach.game_id)
        case "ping":
            return _frames.Ping(message.ping.nonce)
    return None


def write_trade(trade: actions.ProposeTrade) -> action_pb2.ProposeTrade:
    """The message of a trade."""
    return write_action(trade).propose_trade


def write_request(request: _frames.Request) -> engine_service_pb2.PlayRequest:
    """The message of a request on the stream."""
    match request:
        case _frames.Attach(game_id, after_seq, spectator):
            return engine_service_pb2.PlayRequest(
                attach=engine_service_pb2.Attach(
                    game_id=game_id, after_seq=after_seq, spectator=spectator
                )
            )
        case _frames.Command():
            return engine_service_pb2.PlayRequest(command=write_command(request))
        case _frames.Detach(game_id):
            return engine_service_pb2.PlayRequest(detach=engine_service_pb2.Detach(game_id=game_id))
        case _frames.Ping(nonce):
            return engine_service_pb2.PlayRequest(ping=engine_service_pb2.Ping(nonce=nonce))


def write_command(command: _frames.Command) -> engine_service_pb2.Command:
    """The message of a command."""
    return engine_service_pb2.Command(
        game_id=command.game_id,
        command_id=command.command_id,
        decision_id=command.decision_id,
        action=write_action(command.action),
        traceparent=command.traceparent,
    )


def _set(message: Message, field: FieldDescriptor, value: object) -> None:
    if field.message_type is None:
        setattr(message, field.name, value)
        return
    part = getattr(message, field.name)
    part.SetInParent()  # what is empty is there nevertheless
    part.CopyFrom(_written(field.message_type, value))


def _written(descriptor: Descriptor, value: object) -> Message:
    """The message of a value in a field; a choice between messages wraps the one chosen."""
    if descriptor.name not in _UNIONS:
        return _write_as(descriptor, value)
    inner = write(value)
    outer = _new(descriptor)
    for choice in descriptor.oneofs_by_name["kind"].fields:
        if choice.message_type is inner.DESCRIPTOR:
            part = getattr(outer, choice.name)
            part.SetInParent()
            part.CopyFrom(inner)
    return outer


def _write_as(descriptor: Descriptor, value: object) -> Message:
    message = _new(descriptor)
    fill(message, {one: getattr(value, one) for one in get_type_hints(type(value))})
    return message


def _new(descriptor: Descriptor) -> Message:
    return message_factory.GetMessageClass(descriptor)()


_Reader = Callable[[Any], object]


def _value(message: Message) -> object:
    descriptor = message.DESCRIPTOR
    if descriptor.name in _UNIONS:
        kind = message.WhichOneof("kind")
        return None if kind is None else _value(getattr(message, kind))
    return _maker(descriptor)(message)


@cache
def _maker(descriptor: Descriptor) -> _Reader:
    """Makes the value of a message; messages of plain numbers and texts take a short way."""
    cls: Callable[..., object] = _CLASSES[descriptor.full_name]
    fields = [
        (descriptor.fields_by_name[name], type(None) in get_args(hint))
        for name, hint in get_type_hints(cls).items()
        if name in descriptor.fields_by_name
    ]
    names = [field.name for field, _ in fields]
    if all(_is_plain(field, optional) for field, optional in fields):
        if not names:
            value = cls()
            return lambda message: value
        if len(names) == 1:
            return lambda message: cls(getattr(message, names[0]))
        take = attrgetter(*names)
        return lambda message: cls(*take(message))
    readers = [_reader(field, optional) for field, optional in fields]
    return lambda message: cls(*[reader(message) for reader in readers])


def _is_plain(field: FieldDescriptor, optional: bool) -> bool:
    composite = field.message_type is not None or field.enum_type is not None
    return not (composite or optional or _is_repeated(field))


def _reader(field: FieldDescriptor, optional: bool) -> _Reader:
    name = field.name
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        return lambda message: dict(getattr(message, name))
    convert = _item(field)
    if _is_repeated(field):
        # What is newer than this SDK has no value and is left out.
        return lambda message: tuple(
            value for one in getattr(message, name) if (value := convert(one)) is not None
        )
    if optional:
        return lambda message: convert(getattr(message, name)) if message.HasField(name) else None
    return lambda message: convert(getattr(message, name))


def _item(field: FieldDescriptor) -> Callable[[Any], object]:
    if field.message_type is not None:
        return _value
    if field.enum_type is not None:
        kind: type[enums.OpenEnum] = getattr(enums, field.enum_type.name)
        return kind
    return _same


def _same(value: object) -> object:
    return value


def _is_repeated(field: FieldDescriptor) -> bool:
    return bool(field.is_repeated)


_ACTION_FIELDS: Final[dict[type, str]] = {
    _CLASSES[field.message_type.full_name]: field.name
    for field in action_pb2.Action.DESCRIPTOR.oneofs_by_name["kind"].fields
    if field.message_type is not None
}
