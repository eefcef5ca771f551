"""A throw-away certificate, and what its authority gives to who is to believe it."""

import datetime
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

NAMES = ("one.test", "localhost")


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    return made_in(tmp_path)


def made_in(folder: Path) -> Path:
    """One for NAMES with its key, signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAMES[0])])
    now = datetime.datetime.now(datetime.UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(list(map(x509.DNSName, NAMES))), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file = folder / "one.pem"
    file.write_bytes(private + built.public_bytes(serialization.Encoding.PEM))
    return file


@pytest.fixture
def authority(certificate: Path) -> Path:
    return without_key(certificate)


def without_key(certificate: Path) -> Path:
    """What MRTR_CA_FILE may be."""
    file = certificate.with_name("authority.pem")
    pem = certificate.read_text()
    file.write_text(f"# made for tests, naïvely\n{pem[pem.index('-----BEGIN CERTIFICATE-----') :]}")
    return file
