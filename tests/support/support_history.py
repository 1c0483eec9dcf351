"""A history of games with everything in it, for tests of progression's stores."""

from opolyx_progression.deliveries import Delivery
from opolyx_progression.games import FinishedGame, Scheme
from opolyx_progression.rpc.convert import delivery_of
from support_progression import (
    bot,
    duel,
    finished_fact,
    finished_game,
    person,
    released_fact,
    senseless_fact,
    voided_fact,
)

PLAYERS = ["p_a", "p_b", "p_c", "p_d", "b_a"]


def games() -> list[FinishedGame]:
    """A history with every scheme, teams, bots, short games, level-ups and cards."""
    found = [duel(f"duel{number}", "p_a", "p_b") for number in range(6)]
    found.append(duel("short", "p_b", "p_a", ended_in=20))
    found.append(
        finished_game(
            person("p_c", 1, side=0),
            person("p_a", 2, side=1),
            bot("b_a", 1, side=0),
            person("p_d", 2, side=1),
            places=2,
            game_id="team",
            ruleset="team@full",
        )
    )
    found.append(
        finished_game(
            person("p_d", 1),
            person("p_a", 2),
            game_id="guide",
            ruleset="classic@guide",
            scheme=Scheme.WINNER,
        )
    )
    found.append(finished_game(person("p_c", 1), bot("", 2), bot("b_a", 3), game_id="bots"))
    return found


def deliveries() -> list[Delivery]:
    """Those games and one more, a voided one, a fact that can't be processed."""
    facts = [released_fact(1, "duel0", "p_b")]
    for game in games():
        facts.append(finished_fact(len(facts) + 1, game))
    facts.append(senseless_fact(len(facts) + 1, "senseless"))
    facts.append(voided_fact(len(facts) + 1, "void"))
    facts.append(finished_fact(len(facts) + 1, duel("last", "p_d", "p_c")))
    return [delivery_of(fact) for fact in facts]
