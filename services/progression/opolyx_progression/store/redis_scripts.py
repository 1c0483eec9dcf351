"""Scripts of the Redis store; all keys are in one slot, so each is atomic.

Long answers are one text of JSON: the client takes each part of an answer apart by itself, in
Python, which costs a page of a leaderboard more than all else.
"""

from typing import Final

from opolyx_servicekit.redis_job import Script

# Its first write is one that a full Redis refuses: so it is all or nothing. The key of the token
# tells that this very call was done before, when its answer got lost, whatever was done since.
CHANGE: Final = Script(
    "change",
    """
-- KEYS: state, done, then what the commands touch. ARGV: field, its value as loaded, token, seconds
-- to remember it, then the commands, each as its number of words and its words.
-- 1 if the commands are done, now or before; 0 if somebody else changed things since.
if redis.call('EXISTS', KEYS[2]) == 1 then return 1 end
if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('SET', KEYS[2], 1, 'EX', ARGV[4])
local at = 5
while at <= #ARGV do
    local last = at + tonumber(ARGV[at])
    redis.call(unpack(ARGV, at + 1, last))
    at = last + 1
end
return 1
""",
)

BOARD: Final = Script(
    "board",
    """
-- KEYS: board. ARGV: player, or nothing for the top; rows wanted.
-- Players on it, players before the first row's score, players up to it, the rows as JSON, players
-- and places in turn; nil if the player isn't on it.
local players = redis.call('ZCARD', KEYS[1])
local first, wanted = 0, tonumber(ARGV[2])
if ARGV[1] ~= '' then
    local place = redis.call('ZRANK', KEYS[1], ARGV[1])
    if not place then return false end
    first = math.max(0, math.min(place - math.floor((wanted - 1) / 2), players - wanted))
end
local rows = redis.call('ZRANGE', KEYS[1], first, first + wanted - 1, 'WITHSCORES')
if #rows == 0 then return {players, 0, 0, '[]'} end
local before = redis.call('ZCOUNT', KEYS[1], '-inf', '(' .. rows[2])
return {players, before, redis.call('ZCOUNT', KEYS[1], '-inf', rows[2]),
    cjson.encode(rows)}
""",
    writes=False,
)

TEXTS: Final = Script(
    "texts",
    """
-- KEYS: of texts. The texts as JSON, false where there is none.
return cjson.encode(redis.call('MGET', unpack(KEYS)))
""",
    writes=False,
)

CARDS_OF: Final = Script(
    "cards_of",
    """
-- KEYS: cards of a player each. ARGV: sequence number of a game each. The cards of that game.
local found = {}
for i, key in ipairs(KEYS) do found[i] = redis.call('ZRANGEBYSCORE', key, ARGV[i], ARGV[i]) end
return found
""",
    writes=False,
)
