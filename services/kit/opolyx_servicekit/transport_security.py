"""TLS of a server, with certificates that can be replaced while it runs."""

import os
from pathlib import Path
from typing import Any, Final

import grpc
import structlog

from opolyx_servicekit.access import IDENTITY_DOMAIN, Principal
from opolyx_servicekit.errors import PermissionDenied
from opolyx_servicekit.settings import ServiceSettings

_SERVICE: Final = "service"
_CERTIFICATE: Final = "x509_pem_cert"

_log = structlog.get_logger(__name__)


def bind(server: grpc.aio.Server, settings: ServiceSettings) -> tuple[int, int]:
    """Let `server` listen as the settings say; its port, and that for the other services or 0.

    Raises:
        ValueError: only a part of what belongs together is set.
        OSError: a file can't be read.
        RuntimeError: an address can't be bound.
    """
    cert, key = settings.tls_cert_file, settings.tls_key_file
    ca, service_address = settings.tls_client_ca_file, settings.service_address
    if (cert is None) != (key is None):
        raise ValueError("tls_cert_file and tls_key_file belong together")
    if cert is None or key is None:
        if ca is not None or service_address is not None:
            raise ValueError("tls_client_ca_file and service_address need tls_cert_file")
        return server.add_insecure_port(settings.listen_address), 0
    if service_address is None:
        files = CertificateFiles(cert, key, ca)
        return server.add_secure_port(settings.listen_address, files.credentials()), 0
    if ca is None:
        raise ValueError("service_address needs tls_client_ca_file")
    everybody, services = CertificateFiles(cert, key), CertificateFiles(cert, key, ca)
    return (
        server.add_secure_port(settings.listen_address, everybody.credentials()),
        server.add_secure_port(service_address, services.credentials()),
    )


def must_be_certified(principal: Principal, context: Any) -> None:
    """Believe a service only with a certificate: its token alone may have been stolen.

    Who comes by a Unix socket is within this machine, where the socket's owner let it in.

    Raises:
        PermissionDenied: it is a service without one.
    """
    if principal.role != _SERVICE or str(context.peer()).startswith("unix:"):
        return
    if _CERTIFICATE not in context.auth_context():
        raise PermissionDenied(
            "ROLE",
            "services must show a certificate",
            domain=IDENTITY_DOMAIN,
            metadata={"role": _SERVICE, "problem": "certificate"},
        )


class CertificateFiles:
    """PEM files of a server, read again when one of them changed and a client connects."""

    def __init__(self, cert: Path, key: Path, client_ca: Path | None = None) -> None:
        """Read the files.

        Args:
            cert: the certificate chain.
            key: its private key.
            client_ca: if present, clients must show a certificate that comes from it.

        Raises:
            OSError: a file can't be read.
        """
        self._cert = cert
        self._key = key
        self._client_ca = client_ca
        self._stamp = self._stamp_now()
        self._current = self._read()

    def credentials(self) -> grpc.ServerCredentials:
        """Credentials that follow the files."""
        return grpc.dynamic_ssl_server_credentials(
            self._current,
            self._if_changed,  # type: ignore[arg-type]  # None means unchanged
            require_client_authentication=self._client_ca is not None,
        )

    def _if_changed(self) -> grpc.ServerCertificateConfiguration | None:
        """Called by gRPC, on its own thread, before each handshake."""
        try:
            stamp = self._stamp_now()
            if stamp == self._stamp:
                return None
            self._current = self._read()
            self._stamp = stamp
        except OSError as error:
            _log.warning("certificate_not_reloaded", error=str(error))
            return None
        _log.info("certificate_reloaded", path=str(self._cert))
        return self._current

    def _stamp_now(self) -> list[tuple[int, int]]:
        found = [os.stat(path) for path in (self._cert, self._key, self._client_ca) if path]
        return [(file.st_mtime_ns, file.st_ino) for file in found]

    def _read(self) -> grpc.ServerCertificateConfiguration:
        return grpc.ssl_server_certificate_configuration(
            [(self._key.read_bytes(), self._cert.read_bytes())],
            root_certificates=self._client_ca.read_bytes() if self._client_ca else None,
        )
