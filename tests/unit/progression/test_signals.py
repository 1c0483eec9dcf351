"""What stands out in results, and what doesn't."""

from collections.abc import Sequence

import pytest

from opolyx_progression.games import FinishedGame, FinishedSeat, Gift, Scheme, SeatKind
from opolyx_progression.signals import Signal, SignalKind, SignalWatch, Thresholds

_numbers = iter(range(10_000))


def game(
    *players: str,
    gifts: Sequence[tuple[int, int, int]] = (),
    round_: int = 40,
    kind: SeatKind = SeatKind.PERSON,
    survivors: int = 1,
) -> FinishedGame:
    """A result: the players by their places."""
    return FinishedGame(
        game_id=f"g_{next(_numbers)}",
        ruleset="classic@full",
        scheme=Scheme.EVERY_SEAT,
        round=round_,
        places=len(players),
        cause=1,
        ended_unix_ms=1,
        log_digest="",
        seats=tuple(
            FinishedSeat(
                seat=place,
                player_id=player,
                name=player,
                kind=kind,
                side=place,
                place=place + 1,
                survived=place < survivors,
                full_groups=0,
                net_worth=0,
            )
            for place, player in enumerate(players)
        ),
        gifts=tuple(Gift(giver=giver, taker=taker, value=value) for giver, taker, value in gifts),
    )


def found(*games: FinishedGame) -> list[Signal]:
    watch = SignalWatch()
    for one in games:
        watch.see(one)
    return watch.signals()


def kinds(*games: FinishedGame) -> set[SignalKind]:
    return {signal.kind for signal in found(*games)}


def test_two_who_meet_again_and_again_are_told() -> None:
    games = [game(*(("ada", "bob") if number % 2 else ("bob", "ada"))) for number in range(10)]

    (signal,) = found(*games)

    assert (SignalKind.REPEATED_PAIR, ("ada", "bob"), 10) == (
        signal.kind,
        signal.player_ids,
        signal.games,
    )
    assert tuple(one.game_id for one in reversed(games[-5:])) == signal.game_ids


def test_two_who_meet_as_often_as_by_chance_are_not() -> None:
    strangers = [game("ada", f"p_{number}") for number in range(30)]
    others = [game("bob", f"q_{number}") for number in range(30)]
    met = [game(*(("ada", "bob") if number % 2 else ("bob", "ada"))) for number in range(12)]

    assert set() == kinds(*strangers, *others, *met)


def test_nine_meetings_are_not_often() -> None:
    assert set() == kinds(*(game("ada", "bob") for _ in range(9)))


def test_one_who_nearly_always_comes_out_ahead_is_told_first() -> None:
    games = [game("bob", "ada"), *(game("ada", "bob") for _ in range(9))]

    one_sided = [one for one in found(*games) if one.kind is SignalKind.ONE_SIDED_PAIR]

    assert [("ada", "bob")] == [one.player_ids for one in one_sided]
    assert [9] == [one.value for one in one_sided]


def test_bots_and_partners_of_a_side_are_no_pair() -> None:
    assert set() == kinds(*(game("b_1", "b_2", kind=SeatKind.BOT) for _ in range(20)))


def test_great_gifts_are_told_with_who_gained_first() -> None:
    (signal,) = found(
        game("ada", "bob", gifts=[(1, 0, 6_000)]), game("ada", "bob", gifts=[(1, 0, 4_000)])
    )

    assert (SignalKind.GIFTS, ("ada", "bob"), 2, 10_000) == (
        signal.kind,
        signal.player_ids,
        signal.games,
        signal.value,
    )


@pytest.mark.parametrize(
    "gifts",
    [
        [(1, 0, 9_999)],
        [(1, 0, 30_000), (0, 1, 10_001)],
    ],
    ids=["too little", "much came back"],
)
def test_ordinary_trades_are_not(gifts: list[tuple[int, int, int]]) -> None:
    assert set() == kinds(game("ada", "bob", gifts=gifts))


def test_who_leaves_early_again_and_again_is_told() -> None:
    games = [game(f"p_{number}", "ada", round_=3) for number in range(5)]

    (signal,) = found(*games)

    assert (SignalKind.QUICK_SURRENDERS, ("ada",), 5) == (
        signal.kind,
        signal.player_ids,
        signal.games,
    )


def test_who_leaves_early_now_and_then_is_not() -> None:
    early = [game(f"p_{number}", "ada", round_=3) for number in range(5)]
    late = [game(f"q_{number}", "ada", round_=21) for number in range(6)]

    assert set() == kinds(*early, *late)


def test_the_strongest_come_first_and_their_number_is_bounded() -> None:
    watch = SignalWatch(Thresholds(quick_games=1))
    for number in range(150):
        for _ in range(1 + number % 3):
            watch.see(game("winner" + str(number), f"p_{number:03}", round_=2))

    values = [one.value for one in watch.signals() if one.kind is SignalKind.QUICK_SURRENDERS]

    assert 100 == len(values)
    assert values == sorted(values, reverse=True)
    assert 3 == values[0]


def test_old_results_without_gifts_are_read() -> None:
    new = game("ada", "bob", gifts=[(1, 0, 5)])
    assert new == FinishedGame.from_json(new.to_json())
    old = game("ada", "bob")
    assert old == FinishedGame.from_json(old.to_json().replace(',"gifts":[]', ""))


@pytest.mark.parametrize("gift", [(2, 0, 1), (0, -1, 1), (0, 1, -1), (0, 1, 1 << 60)])
def test_gifts_that_make_no_sense_are_refused(gift: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="a gift is"):
        game("ada", "bob", gifts=[gift]).check()
