"""The engine's settings: environment variables `OPOLYX_ENGINE_<FIELD>`."""

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from opolyx_servicekit.peers import PeerSettings


class EngineSettings(PeerSettings):
    """Settings of the engine service; the defaults run on a laptop."""

    model_config = SettingsConfigDict(
        env_prefix="OPOLYX_ENGINE_", extra="forbid", frozen=True, use_attribute_docstrings=True
    )

    store_url: str = "sqlite:///opolyx_engine.db"
    """The store; `sqlite:///file` is relative to the working directory, `sqlite:////file` absolute;
    `redis://host:port/0`, `rediss://…` with TLS, `redis+cluster://host:port,host:port…`."""

    store_sync: Literal["FULL", "NORMAL"] = "NORMAL"
    """Of a SQLite store: NORMAL survives a killed process, FULL a power cut too."""

    development_seed: SecretStr | None = None
    """Makes game ids and secrets follow from this text and the number of games; tests and demos only."""

    bot_think_ms: int = Field(default=600, ge=0)
    """How long a built-in bot waits before it acts, milliseconds; 0 for as fast as it can."""

    bot_slice_ms: int = Field(default=5, ge=1)
    """Milliseconds that bots may think without a pause, so that they starve nobody."""

    restart_grace_ms: int = Field(default=45_000, ge=0)
    """What a waited-for player gets at least when a game is taken up again, milliseconds; longer than
    a client may take to notice that its server stands still, and to come back (30 s, and some)."""

    snapshot_every: int = Field(default=32, ge=1)
    """Updates between two stored snapshots of a game; bounds the work of taking a game up."""

    recent_updates: int = Field(default=64, ge=1)
    """Updates a game keeps in memory for clients that come back."""

    most_missed_updates: int = Field(default=1_000, ge=0)
    """Updates read back from the store for one client that comes back; past it a snapshot is sent."""

    missed_updates_per_second: int = Field(default=100, ge=1)
    """Updates a second read back from the store for one account on average; past it a snapshot."""

    missed_update_burst: int = Field(default=2_000, ge=1)
    """Updates read back from the store for one account at once, before the average counts."""

    most_queued_frames: int = Field(default=256, ge=8)
    """Frames that may wait for one stream; past it its updates are replaced by one snapshot a game."""

    most_queued_bytes: int = Field(default=1 << 20, ge=1 << 12)
    """Bytes that may wait for one stream; past it as above."""

    most_attachments: int = Field(default=2_000, ge=1)
    """Games one stream may receive at once."""

    most_account_streams: int = Field(default=2_000, ge=1)
    """Streams one account may have open at once; past it RESOURCE_EXHAUSTED."""

    most_waiting_commands: int = Field(default=64, ge=1)
    """Commands of one seat of a game that may wait; past it they are answered with a retry."""

    most_stream_commands: int = Field(default=1_000, ge=1)
    """Commands of one stream that may wait for their answers; past it the stream isn't read."""

    commands_per_second: int = Field(default=200, ge=1)
    """Commands a second that one player may send in one game on average."""

    command_burst: int = Field(default=400, ge=1)
    """Commands that one player may send in one game at once, before the average counts."""

    refused_commands_per_second: int = Field(default=10, ge=1)
    """Commands a second of one account that may be refused on average; past it, its streams are read
    ever more slowly, and then not taken for a while. Streams left without a word count too."""

    refused_command_burst: int = Field(default=200, ge=1)
    """Commands of one account that may be refused at once, before the average counts."""

    streams_per_second: int = Field(default=100, ge=1)
    """Streams a second that one account may open on average, whatever it plays."""

    stream_burst: int = Field(default=2_000, ge=1)
    """Streams that one account may open at once, before the average counts."""

    other_requests_per_second: int = Field(default=200, ge=1)
    """Pings, detaches and commands without a seat or a running game that one account may send a
    second on average."""

    other_request_burst: int = Field(default=4_000, ge=1)
    """The same at once, before the average counts."""

    attaches_per_second: int = Field(default=500, ge=1)
    """Games a second that one account may attach to on average, over all its streams."""

    attach_burst: int = Field(default=4_000, ge=1)
    """Games that one account may attach to at once, before the average counts."""

    store_retry_ms: int = Field(default=200, ge=1)
    """When a game tries again after its store failed, and what clients are told, milliseconds."""

    drain_retry_ms: int = Field(default=1_000, ge=0)
    """When clients of a draining server should connect again, milliseconds."""

    replay_chunk_bytes: int = Field(default=512 << 10, ge=1 << 10, le=1 << 20)
    """Size of a page of a replay."""

    finished_games_kept: int = Field(default=32, ge=0)
    """Finished games kept readable in memory; others are read from the store when asked for."""

    identity_address: str | None = None
    """Host and port of the identity service, to learn of revoked tokens; without it, tokens are good
    until they expire."""

    signing_keys_file: Path | None = None
    """Private JWKS file to sign the own token for calls to the identity service with."""

    token_check_seconds: float = Field(default=15.0, gt=0, le=30)
    """How often open streams are looked at for a token that was revoked or has expired."""

    idle_evict_ms: int = Field(default=600_000, ge=0)
    """After how long without a receiver, a command or a built-in bot's move a game leaves memory,
    milliseconds; it comes back when it is asked for or its clock is due. 0 for never."""

    stuck_after_ms: int = Field(default=30_000, ge=1_000)
    """How late a game's clock or answer must be for the game to count as stuck, milliseconds."""

    watchdog_ms: int = Field(default=1_000, ge=10)
    """How often the watchdog looks at a few running games, milliseconds."""

    watchdog_games: int = Field(default=4, ge=0)
    """How many games the watchdog looks at each time; 0 for none."""

    replica_address: str = ""
    """Host and port that other engines on the same store reach this one by. Empty for an engine that
    has its store for itself: it takes every game, and knows of no others."""

    replica_name: str = ""
    """What the certificates of the other engines name, where they don't name their `replica_address`:
    pods have one certificate, and addresses that nobody knows beforehand."""

    heartbeat_ms: int = Field(default=2_000, ge=10)
    """How often an engine with a `replica_address` says that it lives, milliseconds."""

    replica_ttl_ms: int = Field(default=8_000, ge=40)
    """After how long without that an engine counts as dead, and others take its games, milliseconds."""

    adoptions_per_second: int = Field(default=25, ge=1)
    """Games a second that are taken from dead engines without being asked for. Each costs some 15 ms
    of a core; what is asked for isn't counted, and comes first."""

    hand_over_ms: int = Field(default=10_000, ge=0)
    """How long a draining engine may take to hand its games to others, milliseconds; 0 for not."""

    forward_tries: int = Field(default=3, ge=1)
    """How often a call is sent on to a game's owner that turns out not to be it, or not there."""

    forward_wait_ms: int = Field(default=200, ge=1)
    """How long to wait between two such tries, milliseconds."""

    forward_within_ms: int = Field(default=2_000, ge=0)
    """No further try is begun later than this after the first, milliseconds."""

    most_forwarded_streams: int = Field(default=8_000, ge=1)
    """Streams that may go on to other replicas at once; further ones are told to come again. Below
    `most_connection_calls`: all to one replica share a connection."""

    longest_write_seconds: float = Field(default=30.0, gt=0)
    """How long a client may take to read what another replica has sent, seconds; then its stream ends
    as that of a slow reader."""
