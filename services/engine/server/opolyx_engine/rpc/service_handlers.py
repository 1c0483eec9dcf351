"""Puts the servicers on a server; streams of frames pass as bytes (see `frames.py`).

So do the answers of another replica to a call that was sent on to it: any single call whose game is
elsewhere is.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import grpc

from opolyx.engine.v1 import (
    allocation_service_pb2,
    engine_service_pb2,
    operations_service_pb2,
    replica_service_pb2,
)
from opolyx_engine.rpc.forwarding import Forwarding
from opolyx_servicekit.access import methods_of

ENGINE: Final = engine_service_pb2.DESCRIPTOR.services_by_name["EngineService"]
ALLOCATION: Final = allocation_service_pb2.DESCRIPTOR.services_by_name["AllocationService"]
OPERATIONS: Final = operations_service_pb2.DESCRIPTOR.services_by_name["OperationsService"]
REPLICA: Final = replica_service_pb2.DESCRIPTOR.services_by_name["ReplicaService"]

_MODULES: Final = (
    (ENGINE, engine_service_pb2),
    (ALLOCATION, allocation_service_pb2),
    (OPERATIONS, operations_service_pb2),
    (REPLICA, replica_service_pb2),
)
SERVICE_NAMES: Final = tuple(service.full_name for service, _ in _MODULES)
"""Full names, for health and reflection."""

_CLIENTS: Final = frozenset({"player", "bot", "operator"})
_SERVICES: Final = frozenset({"service", "operator"})
_OPERATORS: Final = frozenset({"operator"})
_PEERS: Final = frozenset({"service"})

ROLES: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(methods_of(ENGINE), _CLIENTS),
    f"/{ENGINE.full_name}/GetGame": _CLIENTS | _SERVICES,
    **dict.fromkeys(methods_of(ALLOCATION), _SERVICES),
    **dict.fromkeys(methods_of(OPERATIONS), _OPERATORS),
    **dict.fromkeys(methods_of(REPLICA), _PEERS),
}
"""Which roles may call what; everything else is denied."""

COUNTED_ELSEWHERE: Final = frozenset(
    f"/{ENGINE.full_name}/{name}" for name in ("Play", "WatchGame", "SubmitCommand")
)
"""Methods with a budget of their own, so that who reads too much can still play."""

_AS_BYTES: Final = frozenset({f"/{ENGINE.full_name}/Play", f"/{ENGINE.full_name}/WatchGame"})


def add_services(
    server: grpc.aio.Server, servicers: tuple[Any, Any, Any, Any], forwarding: Forwarding
) -> None:
    """Add the servicers.

    Args:
        server: the server.
        servicers: those of EngineService, whose streams write bytes, of AllocationService, of
            OperationsService and of ReplicaService; each has a method for every RPC.
        forwarding: takes single calls to the owners of their games.
    """
    for (service, module), servicer in zip(_MODULES, servicers, strict=True):
        handlers = {
            method.name: _handler(module, method, servicer, forwarding)
            for method in service.methods
        }
        generic = grpc.method_handlers_generic_handler(service.full_name, handlers)
        server.add_generic_rpc_handlers((generic,))
        server.add_registered_method_handlers(service.full_name, handlers)


def _handler(module: Any, method: Any, servicer: Any, forwarding: Forwarding) -> Any:
    request: Any = getattr(module, method.input_type.name)
    response: Any = getattr(module, method.output_type.name)
    path = f"/{method.containing_service.full_name}/{method.name}"
    serve = getattr(servicer, method.name)
    serialize: Callable[[Any], bytes] = response.SerializeToString
    if path in _AS_BYTES:
        serialize = _as_is
    elif not method.server_streaming:
        serve, serialize = partial(forwarding.unary, path, serve), _as_bytes
    make: Any = {
        (False, False): grpc.unary_unary_rpc_method_handler,
        (False, True): grpc.unary_stream_rpc_method_handler,
        (True, True): grpc.stream_stream_rpc_method_handler,
    }[method.client_streaming, method.server_streaming]
    return make(serve, request_deserializer=request.FromString, response_serializer=serialize)


def _as_is(frames: bytes) -> bytes:
    return frames


def _as_bytes(response: Any) -> bytes:
    """A response of our own, or one of another replica, which is bytes already."""
    return response if isinstance(response, bytes) else bytes(response.SerializeToString())
