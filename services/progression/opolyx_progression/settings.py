"""Progression's settings, read from `OPOLYX_PROGRESSION_*`."""

from pathlib import Path

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from opolyx_servicekit.peers import PeerSettings


class ProgressionSettings(PeerSettings):
    """Settings of progression; the defaults run on a laptop."""

    model_config = SettingsConfigDict(
        env_prefix="OPOLYX_PROGRESSION_",
        extra="forbid",
        frozen=True,
        use_attribute_docstrings=True,
    )

    engine_address: str = "127.0.0.1:7701"
    """Host and port of the engine."""

    identity_address: str | None = None
    """Host and port of the identity service, to learn of revoked tokens; without it, tokens are good
    until they expire."""

    signing_keys_file: Path | None = None
    """Private JWKS file to sign the own token for calls to the other services with."""

    facts_quiet_seconds: float = Field(default=60.0, gt=0)
    """After how long without a word the stream of facts is opened anew."""

    retry_base_seconds: float = Field(default=0.1, gt=0)
    """First wait before the stream of facts is opened anew; doubled each time, with jitter."""

    retry_cap_seconds: float = Field(default=5.0, gt=0)
    """Longest wait before the stream of facts is opened anew."""

    audit_seconds: float = Field(default=3600.0, ge=0)
    """How often everything is recomputed to look for drift; 0 for never."""
