"""Certificates for tests: self-signed ones for 127.0.0.1, and channels that show them."""

import datetime
import ipaddress
from pathlib import Path

import grpc
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


def write_certificate(directory: Path, name: str, *hosts: str) -> tuple[Path, Path]:
    """A self-signed certificate for 127.0.0.1, that can be its own authority; and its key.

    With `hosts` it is for these names and addresses, and not for that one.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName(_names(hosts)), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    cert_path, key_path = directory / f"{name}.pem", directory / f"{name}.key"
    cert_path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    key_path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return cert_path, key_path


def _names(hosts: tuple[str, ...]) -> list[x509.GeneralName]:
    return [_named(host) for host in hosts or ("127.0.0.1",)]


def _named(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def tls_channel(port: int, ca: bytes, own: tuple[Path, Path] | None = None) -> grpc.aio.Channel:
    """A channel that believes `ca`, and shows a certificate of its own if it has one."""
    cert, key = (own[0].read_bytes(), own[1].read_bytes()) if own else (None, None)
    credentials = grpc.ssl_channel_credentials(ca, key, cert)
    # A channel of its own connection: others may share one, with its old certificate.
    options = [("grpc.use_local_subchannel_pool", 1)]
    return grpc.aio.secure_channel(f"127.0.0.1:{port}", credentials, options)


class Authority:
    """An authority whose certificates can be replaced by others of it."""

    def __init__(self, name: str) -> None:
        """With a key of its own."""
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        own = self._builder(self._name, self._key)
        own = own.add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        self.certificate = _pem(own.sign(self._key, hashes.SHA256()))
        """What others believe, PEM."""

    def issue(self, name: str, *hosts: str) -> tuple[str, str]:
        """A new certificate for these names and addresses, and its key, PEM."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        builder = self._builder(subject, key)
        builder = builder.add_extension(x509.SubjectAlternativeName(_names(hosts)), False)
        private = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        return _pem(builder.sign(self._key, hashes.SHA256())), private.decode()

    def _builder(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey
    ) -> x509.CertificateBuilder:
        now = datetime.datetime.now(datetime.UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(hours=1))
            .not_valid_after(now + datetime.timedelta(hours=1))
        )


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode()
