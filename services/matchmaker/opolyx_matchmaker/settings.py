"""The matchmaker's settings, read from `OPOLYX_MATCHMAKER_*`."""

from pathlib import Path
from typing import Annotated, Final

from pydantic import Field, field_validator
from pydantic_settings import NoDecode, SettingsConfigDict

from opolyx_servicekit.peers import PeerSettings

RULESETS: Final = (
    "classic@origins",
    "classic@guide",
    "speed@guide",
    "classic@teams",
    "speed@teams",
    "team@teams",
    "classic@full",
    "blitz@full",
    "speed@full",
    "team@full",
    "halal@full",
    "fortune@full",
)
"""The rulesets that rooms may have if the settings name no others."""


class MatchmakerSettings(PeerSettings):
    """Settings of the matchmaker; the defaults run on a laptop."""

    model_config = SettingsConfigDict(
        env_prefix="OPOLYX_MATCHMAKER_",
        extra="forbid",
        frozen=True,
        use_attribute_docstrings=True,
    )

    engine_address: str = "127.0.0.1:7701"
    """Host and port of the engine."""

    progression_address: str | None = None
    """Host and port of the progression service; without it, players bring nothing to a table."""

    signing_keys_file: Path = Path("opolyx-keys.json")
    """Private JWKS file that tokens are signed with; made if absent while `make_keys` is set."""

    make_keys: bool = True
    """Whether a missing `signing_keys_file` is made; for development."""

    player_token_seconds: int = Field(default=7 * 24 * 3600, ge=60)
    """How long a person's token is valid."""

    bot_token_seconds: int = Field(default=90 * 24 * 3600, ge=60)
    """How long a bot's token is valid."""

    guests_per_minute: int = Field(default=600, ge=0)
    """Guest accounts that one address may make in a minute; 0 for no limit."""

    proxies: int = Field(default=0, ge=0, le=10)
    """How many own proxies append to `x-forwarded-for`; guests then count by what they append."""

    tokens_per_minute: int = Field(default=60, ge=0)
    """Tokens, renewed or of own bots, that one account may be given in a minute; 0 for no limit."""

    revocations_per_minute: int = Field(default=30, ge=0)
    """Revocations that one account may ask for in a minute; 0 for no limit."""

    offer_messages_per_minute: int = Field(default=240, ge=0)
    """Messages, after its first, that one bot may send while it offers itself; 0 for no limit."""

    account_keep_seconds: int = Field(default=30 * 24 * 3600, ge=3600)
    """How long an account is kept at least; then it is removed once it has no token that is good,
    no seat and no bots: nobody can come back to it."""

    rooms_per_minute: int = Field(default=120, ge=0)
    """Rooms that one account may open in a minute, rematches included; 0 for no limit."""

    wrong_codes_per_minute: int = Field(default=10, ge=0)
    """Wrong codes of rooms that one account may type in a minute; 0 for no limit."""

    searches_per_minute: int = Field(default=120, ge=0)
    """Searches that one account may begin in a minute; 0 for no limit."""

    bots_per_owner: int = Field(default=50, ge=0)
    """Bot accounts that one player may own."""

    streams_per_player: int = Field(default=16, ge=1)
    """Streams of this service that one account may have open."""

    stream_check_seconds: float = Field(default=20.0, gt=0, le=30.0)
    """How often an open stream looks whether its token was revoked and the room changed elsewhere."""

    rulesets: Annotated[tuple[str, ...], NoDecode] = RULESETS
    """The rulesets that rooms may have."""

    room_idle_seconds: float = Field(default=1800.0, gt=0)
    """After how long without a change an open room is closed."""

    room_keep_seconds: float = Field(default=7 * 24 * 3600.0, gt=0)
    """How long rooms are kept after their end."""

    engine_timeout_seconds: float = Field(default=5.0, gt=0)
    """How long one call to the engine may take."""

    grants_timeout_seconds: float = Field(default=1.0, gt=0)
    """How long progression may take to say what players bring; past it they bring nothing."""

    start_attempts: int = Field(default=4, ge=1)
    """Calls to the engine before a caller of StartGame is told to try again."""

    retry_base_seconds: float = Field(default=0.1, gt=0)
    """First wait between attempts to reach the engine; doubled each time, with jitter."""

    retry_cap_seconds: float = Field(default=5.0, gt=0)
    """Longest wait between attempts to reach the engine."""

    facts_quiet_seconds: float = Field(default=60.0, gt=0)
    """After how long without a word the stream of facts is opened anew."""

    sweep_seconds: float = Field(default=15.0, gt=0)
    """How often expired rooms, interrupted starts, games that are gone and other processes'
    revocations are looked for."""

    gone_check_seconds: float = Field(default=120.0, gt=0)
    """How often the engine is asked whether a started game still exists."""

    match_seconds: float = Field(default=0.5, gt=0)
    """How often quick match looks for tables."""

    match_window: int = Field(default=100, ge=0)
    """Rating points to either side at first."""

    match_widen_per_second: float = Field(default=10.0, ge=0)
    """Rating points by which the window widens in each second of waiting."""

    match_window_cap: int = Field(default=1000, ge=0)
    """Widest window."""

    match_bots_after_seconds: float = Field(default=30.0, ge=0)
    """After how long bots fill the table of players who allow it."""

    match_bot_policy: str = "steady"
    """The built-in policy that fills tables."""

    match_most_waiting: int = Field(default=10_000, ge=1)
    """Players that may search at once."""

    match_engine_seconds: float = Field(default=60.0, ge=0)
    """How long players for whom a table was found keep their place while the engine is away."""

    lease_seconds: float = Field(default=6.0, gt=0)
    """After how long without a sign of the matchmaker that serves another one takes over; where
    several share a Redis. They must all have the same."""

    @field_validator("rulesets", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(value.replace(",", " ").split()) if isinstance(value, str) else value
