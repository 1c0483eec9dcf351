"""Whole games in this process, played by the same bots that play live: no server, no network.

```python
from opolyx_sdk import SteadyBot
from opolyx_sdk.local import simulate

record = simulate("classic@full", [SteadyBot(), SteadyBot(), "steady", "random"], seed=7)
print(record.places, record.rounds)
record.save("game.jsonl")
```
"""

from collections import Counter
from collections.abc import Sequence

from opolyx_rules import RULESETS, replay
from opolyx_rules.chance import SeededChance, commitment_of
from opolyx_sdk.bots import Bot
from opolyx_sdk.local._budget import Budget
from opolyx_sdk.local._core_views import sdk_result
from opolyx_sdk.local._dice_secret import BuiltInLuck, seeded_game_id, seeded_secret
from opolyx_sdk.local._local_game import LocalGame
from opolyx_sdk.local._players import BUILT_IN, BotPlayer, BuiltInPlayer, Player
from opolyx_sdk.local.game_record import GameRecord, SeatReport
from opolyx_sdk.local.table_options import TableOptions

_PLAIN = TableOptions()


def simulate(
    ruleset: str,
    bots: Sequence[Bot | str],
    seed: int | str = 0,
    *,
    number: int = 0,
    options: TableOptions = _PLAIN,
    budget_s: float | None = None,
    strict: bool = False,
) -> GameRecord:
    """Play one game to its end.

    The game follows from the arguments and from what the bots do: nothing here depends on the
    machine, its clock or the process, unless a bot runs out of its budget. A server with the same
    development seed gives its game `number` the same dice. Time in the game is its own: an action
    takes 100 ms of it, and a deadline that it reaches runs out as in a live game.

    Args:
        ruleset: the ruleset, "mode@edition".
        bots: one for each seat in seat order: a bot of its own, or the name of a built-in one.
        seed: the dice, the cards and the built-in bots' luck follow from it.
        number: which of the seed's games, from 0.
        options: what a room and the accounts would bring in.
        budget_s: how long a bot may take for an answer, seconds; without it, as long as it likes.
        strict: stop with BotError when a bot raises, is too slow or is refused, instead of
            answering for it and noting that in its report.

    Raises:
        ValueError: no such ruleset or built-in bot, a number of seats that can't be, options out
            of bounds, or one bot on two seats.
        BotError: a bot failed, and `strict` is set.
    """
    _check(ruleset, bots)
    policies = [bot if isinstance(bot, str) else "" for bot in bots]
    names = options.names or tuple(
        bot.capitalize() if isinstance(bot, str) else type(bot).__name__ for bot in bots
    )
    game, secret = set_up(ruleset, policies, names, str(seed), number, options)
    with Budget(budget_s) as budget:
        luck = BuiltInLuck(str(seed), game.header.game_id)
        players = [
            _player(seat, bot, names[seat], budget, luck, strict=strict)
            for seat, bot in enumerate(bots)
        ]
        steps = _play(game, players)
    return GameRecord(
        header=game.header,
        secret=secret,
        steps=tuple(steps),
        result=sdk_result(game.state),
        final_digest=game.digest(),
        reports=tuple(player.report for player in players),
    )


def _play(game: LocalGame, players: list[Player]) -> list[tuple[int, tuple[int, ...]]]:
    """Let everybody answer until the game is over; what was done, and when."""
    steps: list[tuple[int, tuple[int, ...]]] = []
    listeners = [player for player in players if player.listens]
    clock = game.clock
    for player in players:
        player.start(game)
    while not game.over:
        clock.tick()
        action = clock.due(game.state)
        if action is None:
            seat, offer = game.asked()
            action = players[seat].answer(game, offer)
        game.act(action)
        steps.append((clock.now_ms, action))
        for player in listeners:
            player.tell(game)
    for player in players:
        player.end(game)
    return steps


def check_table(ruleset: str, seats: int) -> None:
    """Say whether so many can play the ruleset.

    Raises:
        ValueError: they can't, or there is no such ruleset.
    """
    if ruleset not in RULESETS:
        raise ValueError(f"no ruleset {ruleset!r}; there are {', '.join(RULESETS)}")
    counts = RULESETS[ruleset].seat_counts()
    if seats not in counts:
        known = ", ".join(map(str, counts))
        raise ValueError(f"{ruleset} is for {known} seats, not {seats}")


def _check(ruleset: str, bots: Sequence[Bot | str]) -> None:
    check_table(ruleset, len(bots))
    for bot in bots:
        if isinstance(bot, str) and bot not in BUILT_IN:
            raise ValueError(f"no built-in bot {bot!r}; there are {', '.join(BUILT_IN)}")
    objects = Counter(id(bot) for bot in bots if not isinstance(bot, str))
    if any(count > 1 for count in objects.values()):
        raise ValueError("one bot object sits on two seats: make one for each")


def set_up(
    ruleset: str,
    policies: Sequence[str],
    names: Sequence[str],
    seed: str,
    number: int,
    options: TableOptions = _PLAIN,
) -> tuple[LocalGame, bytes]:
    """A game before its first roll, and its secret.

    Args:
        ruleset: as `simulate` takes it.
        policies: for each seat the built-in bot's name; empty for others.
        names: of the seats.
        seed: as `simulate` takes it.
        number: as `simulate` takes it.
        options: as `simulate` takes it.

    Raises:
        ValueError: see `simulate`.
    """
    if not 0 <= number < 1 << 64:
        raise ValueError(f"there is no game {number}: they are counted from 0")
    house = dict(options.house)
    nonces = options.nonces or (b"",) * len(policies)
    if not len(names) == len(nonces) == len(policies):
        raise ValueError("names and nonces must be as many as the seats")
    secret = seeded_secret(seed, number)
    header = replay.Header(
        game_id=seeded_game_id(seed, number),
        ruleset=ruleset,
        ruleset_digest=replay.with_options(RULESETS[ruleset], house).digest(),
        options=house,
        seats=tuple(
            replay.SeatRecord(
                name=names[seat],
                kind="built_in" if policy else "bot",
                policy=policy,
                nonce=nonces[seat].hex(),
                cards={
                    str(square): bonus
                    for square, bonus in sorted(options.cards.get(seat, {}).items())
                },
                vip=seat in options.vip,
            )
            for seat, policy in enumerate(policies)
        ),
        commitment=commitment_of(secret).hex(),
        started_unix_ms=0,
    )
    return LocalGame(header, SeededChance(header.game_key(secret))), secret


def _player(
    seat: int, bot: Bot | str, name: str, budget: Budget, luck: BuiltInLuck, *, strict: bool
) -> Player:
    report = SeatReport(name)
    if isinstance(bot, str):
        return BuiltInPlayer(seat, report, bot, luck)
    return BotPlayer(seat, report, bot, budget, strict=strict)
