"""TLS of a server, with certificates that can be replaced while it runs."""

import os
from pathlib import Path

import grpc
import structlog

_log = structlog.get_logger(__name__)


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
