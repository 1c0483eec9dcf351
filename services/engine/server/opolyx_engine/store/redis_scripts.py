"""Keys and scripts of the Redis store: what is atomic, and in which slot it is.

Everything of one game has the hash tag `{game:<id>}`, so a script over a game runs on one node of a
cluster. What spans games (facts by their number, the index of open games) is in slots of its own and
made out of the games by `redis_upkeep.py`.
"""

from typing import Final

from opolyx_engine.store.base import RESERVED, RUNNING
from opolyx_servicekit.redis_job import Script

FACT_LOG: Final = "{engine:facts}:log"
"""Stream of the numbered facts; the id of number n is `n-0`."""

FACTS_TAKEN: Final = "{engine:facts}:taken"
"""Hash: how many facts of each game have a number."""

LAST_FACT: Final = "{engine:facts}:last"
"""The last number given."""

OPEN_GAMES: Final = "{engine:games}:open"
"""Sorted set, by their start, of the games that aren't over or have facts without a number.

Made from the games, and may hold too much: it says where to look, the games say what is.
"""

RESERVED_GAMES: Final = "{engine:games}:reserved"
"""Set of all games ever reserved."""


REPLICAS: Final = "{engine:replicas}:alive"
"""Sorted set of the replicas, by when each counts as dead, in milliseconds of the node's own clock."""

ABOUT_REPLICAS: Final = "{engine:replicas}:about"
"""Hash: what is known of each replica."""


def owned_key(owner: str) -> str:
    """Set of the games that a replica, or nobody, may own: says where to look, as `OPEN_GAMES`."""
    return f"{{owner:{owner}}}:games"


def request_key(request_id: str) -> str:
    """What a request reserved."""
    return f"{{request:{request_id}}}"


def game_key(game_id: str) -> str:
    """Hash of what is known of a game beside its log."""
    return f"{{game:{game_id}}}:game"


def log_key(game_id: str) -> str:
    """Stream of a game's records; the id of record n is `1-n`, as `0-0` is none."""
    return f"{{game:{game_id}}}:log"


def commands_key(game_id: str) -> str:
    """Hash: the record of each command."""
    return f"{{game:{game_id}}}:commands"


def snapshots_key(game_id: str) -> str:
    """Stream of a game's snapshots, with the ids of their records."""
    return f"{{game:{game_id}}}:snapshots"


def facts_key(game_id: str) -> str:
    """Stream of a game's facts; the id of the nth is `1-n`, from 0."""
    return f"{{game:{game_id}}}:facts"


def keys_of(game_id: str) -> tuple[str, ...]:
    """The keys of a game in the order that the scripts have them."""
    return (
        game_key(game_id),
        log_key(game_id),
        commands_key(game_id),
        snapshots_key(game_id),
        facts_key(game_id),
    )


BIND: Final = Script(
    "bind",
    """
-- KEYS: request. ARGV: game, secret, at. The reservation of the request: this one or an earlier one.
if redis.call('EXISTS', KEYS[1]) == 0 then
    redis.call('HSET', KEYS[1], 'game', ARGV[1], 'secret', ARGV[2], 'at', ARGV[3])
end
return redis.call('HMGET', KEYS[1], 'game', 'secret', 'at')
""",
)

UNBIND: Final = Script(
    "unbind",
    """
-- KEYS: request. ARGV: game. Take back a reservation whose game belongs to another request.
if redis.call('HGET', KEYS[1], 'game') == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1
""",
)

CLAIM: Final = Script(
    "claim",
    f"""
-- KEYS: game. ARGV: request, secret, at. 1 if the game is the request's, 0 if it is another's.
local request = redis.call('HGET', KEYS[1], 'request')
if request then return request == ARGV[1] and 1 or 0 end
redis.call('HSET', KEYS[1], 'request', ARGV[1], 'secret', ARGV[2], 'reserved', ARGV[3],
    'state', '{RESERVED}', 'seq', '-1', 'facts', '0', 'moved', '0')
return 1
""",
)

# Nothing is written before all is checked, and the first write is one that a full Redis refuses: so
# it is all or nothing. The token tells a second sending of one append from another append.
_APPEND: Final = """
local function append(at, state)
    local had = redis.call('HMGET', KEYS[1], 'state', 'seq', 'token', 'facts', 'epoch')
    local token, expected = ARGV[at], ARGV[at + 1]
    if had[3] == token then return 1 end
    if (had[5] or '0') ~= ARGV[at + 9] then return -1 end
    if had[1] ~= state or had[2] ~= expected then return 0 end
    local records, facts = tonumber(ARGV[at + 7]), tonumber(ARGV[at + 8])
    local first, seen = at + 10, {}
    for i = first + 1, first + 3 * records - 1, 3 do
        local command = ARGV[i]
        if command ~= '' then
            if seen[command] or redis.call('HEXISTS', KEYS[3], command) == 1 then return 0 end
            seen[command] = true
        end
    end
    local seq, fact = tonumber(expected), tonumber(had[4])
    redis.call('HSET', KEYS[1], 'seq', seq + records, 'state', ARGV[at + 2],
        'reason', ARGV[at + 3], 'ended', ARGV[at + 4], 'facts', fact + facts, 'token', token)
    for i = first, first + 3 * records - 1, 3 do
        seq = seq + 1
        redis.call('XADD', KEYS[2], '1-' .. seq, 'a', ARGV[i], 'c', ARGV[i + 1], 'b', ARGV[i + 2])
        if ARGV[i + 1] ~= '' then redis.call('HSET', KEYS[3], ARGV[i + 1], seq) end
    end
    first = first + 3 * records
    for i = first, first + 3 * facts - 1, 3 do
        redis.call('XADD', KEYS[5], '1-' .. fact, 'k', ARGV[i], 'a', ARGV[i + 1], 'b', ARGV[i + 2])
        fact = fact + 1
    end
    if ARGV[at + 5] ~= '' then
        redis.call('XADD', KEYS[4], '1-' .. ARGV[at + 5], 'b', ARGV[at + 6])
    end
    return 1
end
"""

APPEND: Final = Script(
    "append",
    f"""{_APPEND}
-- KEYS: of the game. ARGV: token, expected seq, state after, reason, ended at, seq and body of the
-- snapshot, number of records, of facts, epoch, then 3 for each. 1 if it is stored, 0 for a conflict,
-- -1 for another epoch.
return append(1, '{RUNNING}')
""",
)

CREATE: Final = Script(
    "create",
    f"""{_APPEND}
-- KEYS: of the game. ARGV: ruleset, watchable, header, started at, owner, then as append.
-- 1 if the game is there, started now or before; 0 if it can't start; nil if it isn't reserved.
local state = redis.call('HGET', KEYS[1], 'state')
if not state then return false end
if state ~= '{RESERVED}' then return 1 end
if append(6, '{RESERVED}') ~= 1 then return 0 end
redis.call('HSET', KEYS[1], 'ruleset', ARGV[1], 'watchable', ARGV[2], 'header', ARGV[3],
    'started', ARGV[4], 'owner', ARGV[5], 'epoch', ARGV[5] == '' and '0' or '1')
return 1
""",
)

NUMBER: Final = Script(
    "number",
    """
-- KEYS: log, taken, last. ARGV: game, index of its first fact given, then 3 for each fact.
-- Each fact of a game gets one number, whoever brings it and how often. How many have one now;
-- less than the index given if those before it are missing.
local taken, first = tonumber(redis.call('HGET', KEYS[2], ARGV[1]) or 0), tonumber(ARGV[2])
local given = (#ARGV - 2) / 3
if first > taken or first + given <= taken then return taken end
redis.call('HSET', KEYS[2], ARGV[1], first + given)
for i = 3 + 3 * (taken - first), #ARGV, 3 do
    local number = redis.call('INCR', KEYS[3])
    redis.call('XADD', KEYS[1], number .. '-0', 'g', ARGV[1], 'k', ARGV[i], 'a', ARGV[i + 1],
        'b', ARGV[i + 2])
end
return first + given
""",
)

MARK_MOVED: Final = Script(
    "mark_moved",
    """
-- KEYS: game. ARGV: how many of its facts have a number.
redis.call('HSET', KEYS[1], 'moved', ARGV[1])
return 1
""",
)

OWN: Final = Script(
    "own",
    f"""
-- KEYS: game. ARGV: its epoch, its new owner. The epoch then; nil if the game isn't running or has
-- another epoch.
local had = redis.call('HMGET', KEYS[1], 'state', 'epoch', 'owner')
local epoch, from, owner = tonumber(had[2] or 0), tonumber(ARGV[1]), had[3] or ''
if had[1] ~= '{RUNNING}' then return false end
if epoch == from + 1 and owner == ARGV[2] then return epoch end
if epoch ~= from then return false end
redis.call('HSET', KEYS[1], 'owner', ARGV[2], 'epoch', epoch + 1)
return epoch + 1
""",
)

BEAT: Final = Script(
    "beat",
    """
-- KEYS: alive, about. ARGV: replica, milliseconds that this is good for, what is known of it, how
-- often it lived as far as it knows. How often it lived, and for each replica its id, whether it
-- lives, and what is known of it.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local counted, counts_until = 'lives of ' .. ARGV[1], redis.call('ZSCORE', KEYS[1], ARGV[1])
local lives = tonumber(redis.call('HGET', KEYS[2], counted) or ARGV[4])
if not counts_until or tonumber(counts_until) <= now then lives = lives + 1 end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[3], counted, lives)
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
local found, all = {}, redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
for i = 1, #all, 2 do
    local alive = tonumber(all[i + 1]) > now and 1 or 0
    found[#found + 1] = {all[i], alive, redis.call('HGET', KEYS[2], all[i])}
end
return {lives, found}
""",
)

LEAVE: Final = Script(
    "leave",
    """
-- KEYS: alive, about. ARGV: replica, whether only if it is dead.
if ARGV[2] == '1' then
    local time, dead = redis.call('TIME'), redis.call('ZSCORE', KEYS[1], ARGV[1])
    if dead and tonumber(dead) > time[1] * 1000 + time[2] / 1000 then return 0 end
end
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('HDEL', KEYS[2], ARGV[1], 'lives of ' .. ARGV[1])
return 1
""",
)
