"""Between the wire's messages and our own values."""

from collections.abc import Mapping

from opolyx.engine.v1.allocation_service_pb2 import Fact, GameFinished, XpScheme
from opolyx.engine.v1.engine_service_pb2 import Seat
from opolyx.engine.v1.engine_service_pb2 import SeatKind as WireSeatKind
from opolyx.engine.v1.game_pb2 import SeatResult
from opolyx.progression.v1 import progression_service_pb2 as pb
from opolyx_progression.audit import AuditReport
from opolyx_progression.cards import Card
from opolyx_progression.deliveries import Delivery, Effect, Unreadable, VoidedGame
from opolyx_progression.games import FinishedGame, FinishedSeat, Gift, Scheme, SeatKind
from opolyx_progression.leaderboards import BoardPage
from opolyx_progression.levels import Level, from_xp, level_of, rank_of, step_xp
from opolyx_progression.ratings import Rating
from opolyx_progression.signals import Signal
from opolyx_progression.store.base import (
    DeadLetter,
    EntitlementChange,
    Grant,
    LedgerEntry,
    Profile,
)

_SCHEMES = {
    XpScheme.XP_SCHEME_NONE: Scheme.NONE,
    XpScheme.XP_SCHEME_WINNER: Scheme.WINNER,
    XpScheme.XP_SCHEME_EVERY_SEAT: Scheme.EVERY_SEAT,
}
_KINDS = {
    WireSeatKind.SEAT_KIND_PERSON: SeatKind.PERSON,
    WireSeatKind.SEAT_KIND_BOT: SeatKind.BOT,
    WireSeatKind.SEAT_KIND_BUILT_IN: SeatKind.BUILT_IN,
}


def delivery_of(fact: Fact) -> Delivery:
    """A fact as it concerns progression; a result that makes no sense is `Unreadable`."""
    return Delivery(
        number=fact.number,
        game_id=fact.game_id,
        at_unix_ms=fact.at_unix_ms,
        effect=_effect(fact),
        raw=fact.SerializeToString(deterministic=True),
    )


def _effect(fact: Fact) -> Effect:
    kind = fact.WhichOneof("kind")
    if kind == "game_voided":
        return VoidedGame(fact.game_voided.reason)
    if kind != "game_finished":
        return None
    try:
        game = _finished_game(fact, fact.game_finished)
        game.check()
    except ValueError as error:
        return Unreadable(str(error))
    except Exception as error:  # whatever it is, it must hold up no other fact
        return Unreadable(repr(error))
    return game


def _finished_game(fact: Fact, finished: GameFinished) -> FinishedGame:
    if finished.xp_scheme not in _SCHEMES:
        raise ValueError(f"xp_scheme {finished.xp_scheme} is not known")
    results = {result.seat: result for result in finished.result.seats}
    if len(results) != len(finished.seats):
        raise ValueError(f"{len(finished.seats)} seats but results of {len(results)}")
    return FinishedGame(
        game_id=fact.game_id,
        ruleset=finished.ruleset,
        scheme=_SCHEMES[finished.xp_scheme],
        round=finished.result.round,
        places=finished.places,
        cause=finished.result.cause,
        ended_unix_ms=fact.at_unix_ms,
        log_digest=finished.log_digest.hex(),
        seats=tuple(
            _finished_seat(seat, results)
            for seat in sorted(finished.seats, key=lambda seat: seat.seat)
        ),
        gifts=tuple(
            Gift(giver=gift.giver, taker=gift.taker, value=gift.value) for gift in finished.gifts
        ),
    )


def _finished_seat(seat: Seat, results: Mapping[int, SeatResult]) -> FinishedSeat:
    if seat.kind not in _KINDS:
        raise ValueError(f"seat {seat.seat} has kind {seat.kind}")
    if seat.seat not in results:
        raise ValueError(f"seat {seat.seat} has no result")
    result = results[seat.seat]
    return FinishedSeat(
        seat=seat.seat,
        player_id=seat.player_id,
        name=seat.name,
        kind=_KINDS[seat.kind],
        side=seat.side,
        place=result.place,
        survived=result.survived,
        full_groups=result.full_groups,
        net_worth=result.net_worth,
    )


def profile_message(profile: Profile) -> pb.Profile:
    """A profile."""
    standing = profile.standing
    level = level_of(standing.xp)
    return pb.Profile(
        player_id=standing.player_id,
        xp=standing.xp,
        level=level,
        rank=pb.Rank.ValueType(rank_of(level)),
        level_xp=standing.xp - from_xp(level),
        next_level_xp=step_xp(level),
        games=standing.games,
        wins=standing.wins,
        cards=profile.cards,
        ratings=_rating_messages(profile.ratings),
        vip=profile.vip,
    )


def _rating_messages(ratings: Mapping[str, Rating]) -> list[pb.Rating]:
    return [
        pb.Rating(
            mode=mode,
            mu=rating.mu,
            sigma=rating.sigma,
            ordinal=rating.ordinal,
            games=rating.games,
        )
        for mode, rating in ratings.items()
    ]


def award_message(entry: LedgerEntry) -> pb.Award:
    """An award with its terms and cards."""
    award = entry.award
    return pb.Award(
        game_id=award.game_id,
        seat=award.seat,
        player_id=award.player_id,
        xp=entry.xp,
        terms=[
            pb.AwardTerm(kind=pb.TermKind.ValueType(term.kind), xp=term.xp) for term in award.terms
        ],
        zero_reason=pb.ZeroReason.ValueType(award.zero_reason),
        ruleset=award.ruleset,
        table_version=award.table_version,
        at_unix_ms=award.at_unix_ms,
        place=award.place,
        cards=[card_message(card) for card in entry.cards],
    )


def card_message(card: Card) -> pb.Card:
    """A card."""
    return pb.Card(
        card_id=card.card_id,
        square=card.square,
        rarity=pb.Rarity.ValueType(card.rarity),
        game_id=card.game_id,
        level=card.level,
    )


def level_message(level: Level) -> pb.Level:
    """A row of the table of levels."""
    return pb.Level(
        level=level.level,
        from_xp=level.from_xp,
        rank=pb.Rank.ValueType(level.rank),
        drops_card=level.drops_card,
    )


def leaderboard_message(page: BoardPage) -> pb.GetLeaderboardResponse:
    """A part of a leaderboard."""
    rows = [
        pb.LeaderboardRow(rank=row.rank, player_id=row.player_id, name=row.name, score=row.score)
        for row in page.rows
    ]
    return pb.GetLeaderboardResponse(rows=rows, players=page.players)


def grant_message(grant: Grant) -> pb.Grant:
    """What a player brings to a table."""
    return pb.Grant(
        player_id=grant.player_id,
        vip=grant.vip,
        card_bonuses=[
            pb.CardBonus(square=square, bonus_bp=bonus) for square, bonus in grant.bonuses.items()
        ],
        ratings=_rating_messages(grant.ratings),
    )


def report_message(report: AuditReport) -> pb.AuditReport:
    """What an audit found."""
    return pb.AuditReport(
        games=report.games,
        awards=report.awards,
        players=report.players,
        drift=report.drift,
        drifts=[
            pb.Drift(
                kind=drift.kind,
                subject=drift.subject,
                stored=drift.stored,
                computed=drift.computed,
            )
            for drift in report.drifts
        ],
        at_unix_ms=report.at_unix_ms,
    )


def signal_message(signal: Signal) -> pb.Signal:
    """A sign of collusion or farming."""
    return pb.Signal(
        kind=pb.SignalKind.ValueType(signal.kind),
        player_ids=signal.player_ids,
        games=signal.games,
        value=signal.value,
        game_ids=signal.game_ids,
    )


def dead_letter_message(letter: DeadLetter) -> pb.DeadLetter:
    """A fact that couldn't be processed."""
    return pb.DeadLetter(
        fact_number=letter.number,
        game_id=letter.game_id,
        at_unix_ms=letter.at_unix_ms,
        problem=letter.problem,
    )


def entitlement_change_message(change: EntitlementChange) -> pb.EntitlementChange:
    """Who set whose entitlements, when and why."""
    return pb.EntitlementChange(
        number=change.number,
        player_id=change.player_id,
        vip=change.vip,
        reason=change.reason,
        operator_id=change.operator,
        at_unix_ms=change.at_unix_ms,
    )
