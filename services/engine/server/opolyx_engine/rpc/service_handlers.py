"""Puts the servicers on a server; streams of frames pass as bytes (see `frames.py`)."""

from typing import Any, Final

import grpc

from opolyx.engine.v1 import (
    allocation_service_pb2,
    engine_service_pb2,
    operations_service_pb2,
)
from opolyx.engine.v1.allocation_service_pb2_grpc import add_AllocationServiceServicer_to_server
from opolyx.engine.v1.operations_service_pb2_grpc import add_OperationsServiceServicer_to_server
from opolyx_servicekit.access import methods_of

ENGINE: Final = engine_service_pb2.DESCRIPTOR.services_by_name["EngineService"]
ALLOCATION: Final = allocation_service_pb2.DESCRIPTOR.services_by_name["AllocationService"]
OPERATIONS: Final = operations_service_pb2.DESCRIPTOR.services_by_name["OperationsService"]

SERVICE_NAMES: Final = (ENGINE.full_name, ALLOCATION.full_name, OPERATIONS.full_name)
"""Full names, for health and reflection."""

_CLIENTS: Final = frozenset({"player", "bot", "operator"})
_SERVICES: Final = frozenset({"service", "operator"})
_OPERATORS: Final = frozenset({"operator"})

ROLES: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(methods_of(ENGINE), _CLIENTS),
    f"/{ENGINE.full_name}/GetGame": _CLIENTS | _SERVICES,
    **dict.fromkeys(methods_of(ALLOCATION), _SERVICES),
    **dict.fromkeys(methods_of(OPERATIONS), _OPERATORS),
}
"""Which roles may call what; everything else is denied."""

COUNTED_ELSEWHERE: Final = frozenset(
    f"/{ENGINE.full_name}/{name}" for name in ("Play", "WatchGame", "SubmitCommand")
)
"""Methods with a budget of their own, so that who reads too much can still play."""

_STREAMS: Final = frozenset({"Play", "WatchGame"})


def add_services(server: grpc.aio.Server, engine: Any, allocation: Any, operations: Any) -> None:
    """Add the servicers.

    Args:
        server: the server.
        engine: has a method for every RPC of EngineService; its streams write bytes.
        allocation: the servicer of AllocationService.
        operations: the servicer of OperationsService.
    """
    handlers = {method.name: _handler(method, engine) for method in ENGINE.methods}
    generic = grpc.method_handlers_generic_handler(ENGINE.full_name, handlers)
    server.add_generic_rpc_handlers((generic,))
    server.add_registered_method_handlers(ENGINE.full_name, handlers)
    add_AllocationServiceServicer_to_server(allocation, server)
    add_OperationsServiceServicer_to_server(operations, server)


def _handler(method: Any, servicer: Any) -> Any:
    request: Any = getattr(engine_service_pb2, method.input_type.name)
    response: Any = getattr(engine_service_pb2, method.output_type.name)
    serialize = _as_is if method.name in _STREAMS else response.SerializeToString
    make: Any = {
        (False, False): grpc.unary_unary_rpc_method_handler,
        (False, True): grpc.unary_stream_rpc_method_handler,
        (True, True): grpc.stream_stream_rpc_method_handler,
    }[method.client_streaming, method.server_streaming]
    return make(
        getattr(servicer, method.name),
        request_deserializer=request.FromString,
        response_serializer=serialize,
    )


def _as_is(frames: bytes) -> bytes:
    return frames
