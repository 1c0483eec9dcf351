"""Parts that need neither a game nor a wire."""

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from opolyx_engine.command import COMMAND_ID_REUSED, TOO_FAST, Answer, Command
from opolyx_engine.fair_dice import new_reservation
from opolyx_engine.header import BUILT_IN, PERSON, GameHeader, Holder, HouseOptions
from opolyx_engine.metrics import EngineMetrics
from opolyx_engine.recent_commands import MOST_KEPT, RecentCommands
from opolyx_engine.settings import EngineSettings
from opolyx_engine.update_ring import UpdateRing
from opolyx_rules.actions import BUY_BY, ROLL_BY, Action
from opolyx_servicekit.rates import Bucket, Buckets


def command(command_id: str, action: Action) -> Command:
    return Command(command_id, "d1", action[1], action, 0, lambda answer: None)


def test_a_header_survives_storage() -> None:
    header = GameHeader(
        game_id="g_1",
        ruleset="classic@full",
        holders=(
            Holder("p_1", "Ann", PERSON, cards=((39, 300),), vip=True, nonce=b"\x01"),
            Holder("", "Bot", BUILT_IN, policy="steady"),
        ),
        options=HouseOptions(round_cap=20),
        watchable=False,
    )
    assert header == GameHeader.decode(header.encode())
    assert (0, None, None) == tuple(header.seat_of(name) for name in ("p_1", "p_2", ""))


def test_a_ring_gives_exactly_what_was_missed() -> None:
    ring = UpdateRing(3, 10)
    for seq in range(11, 16):
        ring.add(seq, b"%d" % seq)
    assert (13, 15) == (ring.first_seq, ring.last_seq)
    assert [] == ring.after(15)
    assert [b"14", b"15"] == ring.after(13)
    assert [b"13", b"14", b"15"] == ring.after(12)
    assert ring.after(11) is None
    assert ring.after(16) is None
    with pytest.raises(ValueError, match="does not follow"):
        ring.add(17, b"")


def test_a_ring_takes_older_updates_as_far_as_they_adjoin_and_fit() -> None:
    ring = UpdateRing(3, 10)
    ring.add(11, b"11")
    ring.add_older(9, [b"9"])
    assert 11 == ring.first_seq
    ring.add_older(10, [b"8", b"9", b"10"])
    assert [b"9", b"10", b"11"] == ring.after(8)
    assert ring.after(7) is None


def test_the_first_answer_is_remembered() -> None:
    recent = RecentCommands(complete=True)
    recent.keep("c", 0, ROLL_BY[0], Answer(seq=5))
    assert Answer(seq=5) == recent.answer_to(command("c", ROLL_BY[0]))
    answer = recent.answer_to(command("c", BUY_BY[0]))
    assert answer is not None
    assert answer.refusal is not None
    assert COMMAND_ID_REUSED == answer.refusal.reason
    assert recent.answer_to(command("c", ROLL_BY[1])) is None, "another seat's is another command"
    assert recent.answer_to(command("d", ROLL_BY[0])) is None


def test_it_is_known_when_answers_were_forgotten() -> None:
    recent = RecentCommands(complete=True)
    for number in range(MOST_KEPT):
        recent.keep(f"c{number}", 0, ROLL_BY[0], Answer(seq=number + 1))
    assert recent.complete
    recent.keep("one more", 0, ROLL_BY[0], Answer(seq=1_000))
    assert not recent.complete


def test_a_bucket_gives_a_burst_and_then_its_rate() -> None:
    bucket = Bucket(10, 3)
    assert [0, 0, 0] == [bucket.wait_ms(0) for _ in range(3)]
    wait_ms = bucket.wait_ms(0)
    assert 100 <= wait_ms <= 101
    assert bucket.wait_ms(wait_ms - 2), "what is refused costs nothing"
    assert not bucket.wait_ms(wait_ms)
    assert bucket.wait_ms(wait_ms)


def test_every_key_has_a_bucket_and_only_the_latest_are_kept() -> None:
    buckets = Buckets(10, 1, most_keys=2)
    assert [0, 0] == [buckets.wait_ms(key, 0) for key in "ab"]
    assert buckets.wait_ms("a", 0)
    assert not buckets.wait_ms("c", 0), "b is forgotten for it"
    assert buckets.wait_ms("a", 0)
    assert not buckets.wait_ms("b", 0)


def test_a_development_seed_makes_reservations_reproducible() -> None:
    first = [new_reservation("r", ordinal, "seed", 0) for ordinal in range(3)]
    assert first == [new_reservation("r", ordinal, "seed", 0) for ordinal in range(3)]
    assert 3 == len({(each.game_id, each.secret) for each in first})
    assert new_reservation("r", 0, None, 0) != new_reservation("r", 0, None, 0)
    assert 32 == len(new_reservation("r", 0, None, 0).secret)


def test_settings_have_defaults_and_mask_the_seed() -> None:
    settings = EngineSettings(development_seed="visible")
    assert "visible" not in str(settings.describe())


def test_metrics_have_their_names_and_bounded_labels() -> None:
    metrics = EngineMetrics(CollectorRegistry())
    metrics.commands.inc("roll", "accepted")
    metrics.refused(TOO_FAST)
    text = generate_latest(metrics.registry).decode()
    for name in (
        "opolyx_active_games",
        "opolyx_commands_total",
        'opolyx_refusals_total{reason="too_fast"}',
        "opolyx_timer_lag_seconds",
        "opolyx_store_append_seconds",
        "opolyx_slow_readers_total",
    ):
        assert name in text
    assert "game_id" not in text
