"""Every enumeration of the wire, with the wire's numbers.

A value that is newer than this SDK reads as the zero member of its enumeration.
"""

from enum import IntEnum
from typing import Self


class OpenEnum(IntEnum):
    """An enumeration to which later servers may add values."""

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        return cls(0) if isinstance(value, int) and value != 0 else None


class BusMove(OpenEnum):
    """How to move after the bus."""

    UNSPECIFIED = 0
    """Not set, or newer than this SDK."""

    SUM = 1
    """By the sum of the two white dice."""

    FIRST = 2
    """By the first white die."""

    SECOND = 3
    """By the second white die."""


class CashCause(OpenEnum):
    """Why cash moved or is owed."""

    UNSPECIFIED = 0
    """Not set, or newer than this SDK."""

    SALARY = 1
    """Passing or reaching Start."""

    LANDING_BONUS = 2
    """Stopping on Start exactly."""

    PURCHASE = 3
    """Buying at list price."""

    AUCTION = 4
    """Buying in an auction."""

    RENT = 5
    """Rent, the owner's part."""

    RENT_TAX = 6
    """Rent tax: the part of a rent that leaves the game."""

    TAX = 7
    """A tax square."""

    CARD = 8
    """A Chance card."""

    BAIL = 9
    """Bail."""

    BUILD = 10
    """Building."""

    SELL_BUILDING = 11
    """Selling a building."""

    MORTGAGE = 12
    """Mortgaging."""

    REDEEM = 13
    """Redeeming a mortgage."""

    TRADE = 14
    """A trade."""

    WAGER_STAKE = 15
    """The wager's stake."""

    WAGER_WIN = 16
    """The wager's win, gross of the stake."""

    EIGHT_BONUS = 17
    """The roll of eight (GOD-3)."""

    FINANCING = 18
    """Paying off a financed property."""

    LIQUIDATION = 19
    """Liquidation of a seat that goes out: its property sold to the bank."""

    FORFEIT = 20
    """What is left of a seat that goes out, to the bank."""

    START = 21
    """The start cash."""


class DetachReason(OpenEnum):
    """Why a client no longer receives a game."""

    UNSPECIFIED = 0
    """Not set, or newer than this SDK."""

    REQUESTED = 1
    """It asked for it."""

    NOT_FOUND = 2
    """There is no such game."""

    NOT_SEATED = 3
    """It has no seat in the game, and did not ask to watch."""

    NOT_WATCHABLE = 4
    """The game can't be watched."""

    LIMIT = 5
    """It has too many attachments."""

    FAULT = 6
    """The server had a fault in this game; the game is void."""

    UNAVAILABLE = 7
    """The game could not be read from the store now; attach again."""


class EndCause(OpenEnum):
    """How a game ended."""

    UNSPECIFIED = 0
    """Not set, or newer than this SDK."""

    LAST_STANDING = 1
    """One player or side is left (END-1)."""

    ROUND_CAP = 2
    """The round cap is complete (END-1)."""


class GamePlace(OpenEnum):
    """Where a running game is, as operators see it."""

    UNSPECIFIED = 0
    """Not set, or newer than this SDK; of a game that has ended."""

    IN_MEMORY = 1
    """In memory: it is played."""

    RESTING = 2
    """Out of memory, as nothing goes on in it: taken up when asked for or when its clock is due."""

    HELD = 3
    """Its log can't be followed: kept as it is until an operator ends it, or a version that can
    follow it starts.
    """

    COMING = 4
    """To be taken up as soon as the store gives it, or once a while has passed since somebody else
    wrote to its log.
    """

    REFUSED = 5
    """Nowhere: it was started by a version with other rules, and no engine that has them is there.
    It waits for one, or until an operator ends it.
    """


class GameState(OpenEnum):
    """The life of a game."""

    UNSPECIFIED = 0
    """Not set, or newer than this SDK."""

    RUNNING = 1
    """It is being played."""

    FINISHED = 2
    """It ended by the rules."""

    VOID = 3
    """It was ended by an operator or by a fault; nobody is awarded anything."""


class God(OpenEnum):
    """Gods of Fortune (GOD-1)."""

    UNSPECIFIED = 0
    """None."""

    WEALTH = 1
    """The wealth god: this seat's rents are higher."""

    MISFORTUNE = 2
    """The misfortune god: the rents this seat owes are higher."""


class JailCause(OpenEnum):
    """Why a seat goes to jail."""

    UNSPECIFIED = 0
    """Not set, or newer than this SDK."""

    SQUARE = 1
    """Square 30."""

    CARD = 2
    """A Chance card."""

    DOUBLES = 3
    """The third double in a row."""


class LeaderboardKind(OpenEnum):
    """What a leaderboard ranks."""

    UNSPECIFIED = 0
    """Not set, or newer than this SDK."""

    XP = 1
    """By XP."""

    RATING = 2
    """By rating in a mode."""


class MoveManner(OpenEnum):
    """How a token moves."""

    UNSPECIFIED = 0
    """Not set, or newer than this SDK."""

    WALK = 1
    """By the dice, clockwise."""

    CARD_FORWARD = 2
    """Forward by a card."""

    CARD_BACK = 3
    """Back by a card."""

    JUMP = 4
    """By an X (DIE-4)."""

    TELEPORT = 5
    """By a triple (DIE-5)."""

    TO_JAIL = 6
    """Straight to jail."""


class Occupant(OpenEnum):
    """Who has a seat."""

    UNSPECIFIED = 0
    """Nobody yet."""

    PERSON = 1
    """A person."""

    BOT = 2
    """A bot that plays through the SDK."""

    BUILT_IN = 3
    """A bot that the engine plays."""


class OfferCause(OpenEnum):
    """Why an offer is closed."""

    UNSPECIFIED = 0
    """Not set, or newer than this SDK."""

    ACCEPTED = 1
    """Accepted."""

    DECLINED = 2
    """Declined."""

    WITHDRAWN = 3
    """Withdrawn."""

    LAPSED = 4
    """Its time ran out (TRADE-6)."""

    CHANGED = 5
    """Something in it has changed (TRADE-6)."""

    SEAT_OUT = 6
    """A side went out (TRADE-6)."""


class PassCause(OpenEnum):
    """Why a seat passes."""

    UNSPECIFIED = 0
    """Not set, or newer than this SDK."""

    CHOICE = 1
    """Its own choice."""

    CASH = 2
    """It can't afford the minimum (AUCTION-5)."""

    CLOCK = 3
    """Its clock ran out (AUCTION-6)."""

    GONE = 4
    """It left the game (AUCTION-9)."""


class Phase(OpenEnum):
    """The kind of decision awaited."""

    UNSPECIFIED = 0
    """Not set, or newer than this SDK."""

    ROLL = 1
    """Before the roll (TURN-4)."""

    JAIL = 2
    """In jail, before the roll (JAIL-2, JAIL-3)."""

    JAIL_BAIL = 3
    """In jail, after a roll that failed (JAIL-2, after_roll)."""

    BUY = 4
    """Buy or decline (BUY-1)."""

    AUCTION = 5
    """Bid or pass (AUCTION-3)."""

    PAYMENT = 6
    """Raise cash and pay a debt (DEBT-1)."""

    WAGER = 7
    """Take or decline the wager (CORNER-2)."""

    BUS = 8
    """Choose the bus's move (DIE-3)."""

    TRIPLE = 9
    """Choose the triple's square (DIE-5)."""

    OFFER = 10
    """Answer a trade offer (TRADE-1); open beside the phase that the table is in."""


class PropertyCause(OpenEnum):
    """Why a property changes hands."""

    UNSPECIFIED = 0
    """Not set, or newer than this SDK."""

    PURCHASE = 1
    """Bought at list price."""

    AUCTION = 2
    """Bought in an auction."""

    TRADE = 3
    """Traded."""

    FINANCING = 4
    """Bought by financing."""

    LIQUIDATION = 5
    """Freed because its owner went out."""

    INHERITANCE = 6
    """Left to an ally (DEBT-8)."""

    MORTGAGE_LAPSED = 7
    """Its mortgage ran out (MORT-4)."""


class Rank(OpenEnum):
    """Ranks (XP-5)."""

    UNSPECIFIED = 0
    """Not set, or newer than this SDK."""

    PEDDLER = 1
    """From level 1."""

    SHOPKEEPER = 2
    """From level 5."""

    MERCHANT = 3
    """From level 10."""

    BANKER = 4
    """From level 18."""

    MAGNATE = 5
    """From level 28."""

    TYCOON = 6
    """From level 40."""

    LEGEND = 7
    """From level 55."""


class Rarity(OpenEnum):
    """How rare a card is."""

    UNSPECIFIED = 0
    """Not set, or newer than this SDK."""

    COMMON = 1
    """3 % more rent."""

    RARE = 2
    """8 % more rent."""

    EPIC = 3
    """18 % more rent."""

    LEGENDARY = 4
    """33 % more rent."""


class RefusalReason(OpenEnum):
    """Kinds of refusals. Stored and shown: never renumber."""

    UNSPECIFIED = 0
    """Not set, or newer than this SDK."""

    GAME_OVER = 1
    """The game is over."""

    OUT_OF_GAME = 2
    """The seat is out of the game."""

    NOT_AWAITED = 3
    """Another seat is awaited."""

    WRONG_PHASE = 4
    """The seat is awaited, but for another kind of decision."""

    INVALID_ACTION = 5
    """The action is no action of this game: an unknown kind, seat or square, or a malformed
    argument.
    """

    NOT_ENOUGH_CASH = 6
    """The seat has too little cash."""

    NOT_A_PROPERTY = 7
    """The square is not a property."""

    NOT_A_STREET = 8
    """The property is not a street."""

    NOT_OWNER = 9
    """The property belongs to somebody else, or to nobody."""

    GROUP_INCOMPLETE = 10
    """A street of the group is missing."""

    GROUP_MORTGAGED = 11
    """A street of the group is mortgaged."""

    UNEVEN = 12
    """The group would be built unevenly."""

    BUILD_LIMIT = 13
    """The street has had its levels of this turn."""

    FULLY_BUILT = 14
    """The street has all five levels."""

    NO_BUILDING = 15
    """The street has no building."""

    GROUP_HAS_BUILDINGS = 16
    """A street of the group has a building."""

    MORTGAGED = 17
    """The property is mortgaged."""

    NOT_MORTGAGED = 18
    """The property is not mortgaged."""

    FINANCED = 19
    """The property is financed and not paid off."""

    RAISING_ONLY = 20
    """In a payment pause only raising cash is open."""

    SOLVENT = 21
    """The debtor can still raise what is owed."""

    NO_BAIL_NOW = 22
    """Bail can't be paid now."""

    WAGER_NUMBERS = 23
    """The wager's numbers are not one to three different numbers from 1 to 6."""

    NO_FINANCING = 24
    """No financing is open to this seat."""

    NO_TRADE_NOW = 25
    """Trading is not open to this seat now."""

    TRADE_WITH_SELF = 26
    """A seat can't trade with itself."""

    PARTNER_OUT = 27
    """The partner is out of the game."""

    TOO_MANY_OFFERS = 28
    """The proposer has as many open offers as are allowed."""

    EMPTY_OFFER = 29
    """The offer holds nothing."""

    DUPLICATE_LINE = 30
    """The same line stands twice in the offer, or on both sides."""

    INVALID_CASH = 31
    """An amount of cash is negative or too large."""

    UNFAIR = 32
    """The smaller side is worth less than half of the larger."""

    OFFER_CLOSED = 33
    """There is no such open offer: it never was, is closed, or has changed."""

    NOT_RECIPIENT = 34
    """The offer is not addressed to this seat."""

    NOT_PROPOSER = 35
    """The offer is not this seat's own."""

    AUCTION_RUNNING = 36
    """An auction is running: nothing else moves."""

    STALE_DECISION = 37
    """The decision answered is closed: the table has moved on."""

    DEADLINE_PASSED = 38
    """The deadline has passed."""

    COMMAND_ID_REUSED = 39
    """The command id was used before for another action."""

    SPECTATOR = 40
    """The sender watches and has no seat."""

    TOO_FAST = 41
    """The seat sends too many commands; retry_after_ms in the numbers says when to go on."""

    GAME_VOID = 42
    """The game was ended as void."""

    GAME_NOT_FOUND = 43
    """There is no such game."""


class ReleaseCause(OpenEnum):
    """How a seat leaves jail."""

    UNSPECIFIED = 0
    """Not set, or newer than this SDK."""

    DOUBLE = 1
    """A double."""

    BAIL = 2
    """Bail."""

    FORCED_BAIL = 3
    """Bail after the last attempt."""

    FREE = 4
    """The attempts were used up, and nothing is owed."""


class Role(OpenEnum):
    """What a caller may be."""

    UNSPECIFIED = 0
    """Not set, or newer than this SDK."""

    PLAYER = 1
    """A person who plays."""

    BOT = 2
    """A bot account."""

    SERVICE = 3
    """One of the services."""

    OPERATOR = 4
    """Somebody who runs the services."""


class RoomState(OpenEnum):
    """The life of a room."""

    UNSPECIFIED = 0
    """Not set, or newer than this SDK."""

    OPEN = 1
    """It takes players."""

    STARTING = 2
    """Its game is being started."""

    STARTED = 3
    """Its game has started."""

    CLOSED = 4
    """It was closed without a game."""


class SeatKind(OpenEnum):
    """What kind of player holds a seat."""

    UNSPECIFIED = 0
    """Not set, or newer than this SDK."""

    PERSON = 1
    """A person."""

    BOT = 2
    """A bot that plays through the SDK."""

    BUILT_IN = 3
    """A bot that the engine plays."""


class SurrenderCause(OpenEnum):
    """Why a seat surrenders."""

    UNSPECIFIED = 0
    """Not set, or newer than this SDK."""

    CHOICE = 1
    """Its own choice."""

    MISSED_TURNS = 2
    """It missed too many turns in a row (CLOCK-4)."""


class TermKind(OpenEnum):
    """What an award's term is for."""

    UNSPECIFIED = 0
    """Not set, or newer than this SDK."""

    PLACE = 1
    """The place (XP-1)."""

    GROUPS = 2
    """Full colour groups held at the end (XP-1)."""

    SURVIVAL = 3
    """Surviving to the end (XP-1)."""

    WIN = 4
    """Winning (XP-3)."""

    FEW_PEOPLE = 5
    """Halved: fewer than two human accounts (XP-4)."""


class XpScheme(OpenEnum):
    """Who gets XP."""

    UNSPECIFIED = 0
    """Not set, or newer than this SDK."""

    NONE = 1
    """Nobody."""

    WINNER = 2
    """The winner."""

    EVERY_SEAT = 3
    """Every human seat."""


class ZeroReason(OpenEnum):
    """Why an award is zero."""

    UNSPECIFIED = 0
    """It is not."""

    SHORT_GAME = 1
    """The game ended in round 20 or before (XP-2)."""

    BOT = 2
    """The seat is a bot (XP-4)."""

    SCHEME = 3
    """The ruleset awards nothing (XP-3)."""

    NOT_WINNER = 4
    """Only the winner is awarded (XP-3)."""


class SignalKind(OpenEnum):
    """What a sign of collusion or farming is."""

    UNSPECIFIED = 0
    """Not set, or newer than this SDK."""

    REPEATED_PAIR = 1
    """Two people met again and again, more often than by chance."""

    ONE_SIDED_PAIR = 2
    """Of two who met often, one nearly always came out ahead."""

    GIFTS = 3
    """One gave another far more in trades than it got."""

    QUICK_SURRENDERS = 4
    """An account left early in many games, by its own will or by missed turns."""
