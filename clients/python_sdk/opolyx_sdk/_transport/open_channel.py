"""Opens a gRPC channel with the SDK's settings."""

import grpc

from opolyx_sdk._transport.plaintext import warn_of_plaintext
from opolyx_sdk.options import ClientOptions, Tls


def open_channel(address: str, options: ClientOptions) -> grpc.aio.Channel:
    """A channel to `address`; it connects when it is first used."""
    timeout_ms = round(options.keepalive_timeout_s * 1000)
    settings: tuple[tuple[str, int | str], ...] = (
        ("grpc.keepalive_time_ms", round(options.keepalive_s * 1000)),
        ("grpc.keepalive_timeout_ms", timeout_ms),
        ("grpc.http2.ping_timeout_ms", timeout_ms),  # alone counts while another ping is under way
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.min_reconnect_backoff_ms", round(options.connect_timeout_s * 1000)),
        ("grpc.max_reconnect_backoff_ms", 2_000),
        ("grpc.max_receive_message_length", 16 << 20),
        ("grpc.use_local_subchannel_pool", 1),  # two clients never share a broken connection
        ("grpc.primary_user_agent", "opolyx-sdk"),
    )
    if options.tls is None:
        warn_of_plaintext(address)
        return grpc.aio.insecure_channel(address, options=settings)
    if options.tls.server_name:
        settings += (("grpc.ssl_target_name_override", options.tls.server_name),)
    return grpc.aio.secure_channel(address, _credentials(options.tls), options=settings)


def _credentials(tls: Tls) -> grpc.ChannelCredentials:
    return grpc.ssl_channel_credentials(
        root_certificates=tls.root_certificates,
        private_key=tls.private_key,
        certificate_chain=tls.certificate_chain,
    )
