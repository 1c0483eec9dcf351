"""What is atomic in Redis: each script is one step of the store.

Every script that writes looks at the lease first, and writes nothing if another process holds it. It
then checks all it must before its first write, which is one that a full Redis refuses: so it is all
or nothing. Each may be done twice, as a lost answer makes the link ask again; where that would show,
the random token of the call tells.
"""

from typing import Final

from opolyx_servicekit.redis_job import Script

FENCED: Final = b"FENCED"
"""What a script says that wrote nothing, because the lease is another's."""

HOLD: Final = Script(
    "hold",
    """
-- KEYS: lease. ARGV: nonce of the process, then fence and beat that it has seen for too long.
-- Fence and beat of the lease as it is now, and 1 if it is this process's.
local had = redis.call('HMGET', KEYS[1], 'fence', 'beat')
local fence, beat = had[1] or '', had[2] or '0'
if string.sub(fence, -#ARGV[1] - 1) == '-' .. ARGV[1] then
    return {fence, tostring(redis.call('HINCRBY', KEYS[1], 'beat', 1)), 1}
end
if fence ~= '' and (fence ~= ARGV[2] or beat ~= ARGV[3]) then return {fence, beat, 0} end
fence = redis.call('HINCRBY', KEYS[1], 'epoch', 1) .. '-' .. ARGV[1]
redis.call('HSET', KEYS[1], 'fence', fence, 'beat', 0)
return {fence, '0', 1}
""",
)

RELEASE: Final = Script(
    "release",
    """
-- KEYS: lease. ARGV: fence. The next who asks has it; the epoch goes on.
if redis.call('HGET', KEYS[1], 'fence') == ARGV[1] then redis.call('HSET', KEYS[1], 'fence', '') end
return 1
""",
)

_FENCE: Final = """
if redis.call('HGET', KEYS[1], 'fence') ~= ARGV[1] then return 'FENCED' end
"""
"""KEYS[1] is the lease and ARGV[1] the fence of every script that writes."""

# A room lies in one index of four, and in two lists if it is listed. Of a room that is running the
# score is when it was checked, which counts on when it is over.
_FILE: Final = """
local function file(at)
    -- KEYS[2] to KEYS[6]: the indexes. ARGV from at: id, number of its index, score, whether it is
    -- listed, its two listings.
    local id, phase, score = ARGV[at], tonumber(ARGV[at + 1]), ARGV[at + 2]
    local checked = redis.call('ZSCORE', KEYS[4], id)
    if checked and (phase == 3 or phase == 4 and tonumber(checked) > tonumber(score)) then
        score = checked
    end
    for i = 1, 4 do
        if i ~= phase then redis.call('ZREM', KEYS[i + 1], id) end
    end
    redis.call('ZADD', KEYS[phase + 1], score, id)
    if ARGV[at + 3] == '1' then
        redis.call('ZADD', KEYS[6], 0, ARGV[at + 4], 0, ARGV[at + 5])
    else
        redis.call('ZREM', KEYS[6], ARGV[at + 4], ARGV[at + 5])
    end
end

local function free_code(key, id)
    if redis.call('GET', key) == id then redis.call('DEL', key) end
end
"""

CREATE: Final = Script(
    "create_room",
    f"""{_FENCE}{_FILE}
-- KEYS: lease, indexes, room, request, code, game, then the seats of who is placed.
-- ARGV: fence, row, revision, request, the six of file, game, then the place of each.
-- 'made'; or 'known' and the room of the request; or 'code', if it is another's; or 'placed', the
-- number of who is, and where.
local known = redis.call('GET', KEYS[8])
if known then return {{'known', known}} end
for i = 11, #KEYS do
    local placed = redis.call('HGETALL', KEYS[i])
    if #placed > 0 then return {{'placed', i - 10, placed[1], placed[2]}} end
end
if redis.call('EXISTS', KEYS[9]) == 1 then return {{'code'}} end
redis.call('HSET', KEYS[7], 'row', ARGV[2], 'revision', ARGV[3], 'request', ARGV[4])
redis.call('SET', KEYS[8], ARGV[5])
redis.call('SET', KEYS[9], ARGV[5])
redis.call('SET', KEYS[10], ARGV[5])
for i = 11, #KEYS do redis.call('HSET', KEYS[i], ARGV[11], ARGV[i + 1]) end
file(5)
return {{'made'}}
""",
)

CHANGE: Final = Script(
    "change_room",
    f"""{_FENCE}{_FILE}
-- KEYS: lease, indexes, room, code, the seats of who leaves, then of who comes.
-- ARGV: fence, token, revision expected, row, the six of file, revision after, whether it keeps its
-- code, whether it keeps its grants, game, how many leave, then capacity and place of each who comes.
-- 'done'; or 'changed', if the revision is another; or 'placed', the number of who is, and where.
local had = redis.call('HMGET', KEYS[7], 'revision', 'token')
if had[2] == ARGV[2] then return {{'done'}} end
if had[1] ~= ARGV[3] then return {{'changed'}} end
local comers = 8 + tonumber(ARGV[15])
for i = comers + 1, #KEYS do
    local placed = redis.call('HGETALL', KEYS[i])
    if #placed / 2 >= tonumber(ARGV[14 + 2 * (i - comers)]) then
        return {{'placed', i - comers, placed[1], placed[2]}}
    end
end
redis.call('HSET', KEYS[7], 'row', ARGV[4], 'revision', ARGV[11], 'token', ARGV[2])
if ARGV[13] == '0' then redis.call('HDEL', KEYS[7], 'grants') end
if ARGV[12] == '0' then free_code(KEYS[8], ARGV[5]) end
for i = 9, comers do redis.call('HDEL', KEYS[i], ARGV[14]) end
for i = comers + 1, #KEYS do
    redis.call('HSET', KEYS[i], ARGV[14], ARGV[15 + 2 * (i - comers)])
end
file(5)
return {{'done'}}
""",
)

KEEP_GRANTS: Final = Script(
    "keep_grants",
    f"""{_FENCE}
-- KEYS: lease, room. ARGV: fence, grants. The grants that were fixed first; nil if there is no room.
if redis.call('EXISTS', KEYS[2]) == 0 then return false end
redis.call('HSETNX', KEYS[2], 'grants', ARGV[2])
return redis.call('HGET', KEYS[2], 'grants')
""",
)

MARK_CHECKED: Final = Script(
    "mark_checked",
    f"""{_FENCE}
-- KEYS: lease, running. ARGV: fence, now, then rooms.
for i = 3, #ARGV do redis.call('ZADD', KEYS[2], 'XX', ARGV[2], ARGV[i]) end
return 1
""",
)

TAKE_FACTS: Final = Script(
    "take_facts",
    f"""{_FENCE}{_FILE}
-- KEYS: lease, indexes, cursor, applied, the seats of who is released, then room and code of each
-- game that is over. ARGV: fence, token, cursor expected, cursor after, how many are released, game
-- and player of each, then of each room: the six of file, revision expected, row, revision after.
-- 'changed'; or 'done' and, as JSON, player, game and place of each who was placed.
local had = redis.call('HMGET', KEYS[8], 'token', 'outcome')
if had[1] == ARGV[2] then return {{'done', had[2]}} end
if (redis.call('GET', KEYS[7]) or '0') ~= ARGV[3] then return {{'changed'}} end
local releases = tonumber(ARGV[5])
local rooms, sheets = 9 + releases, 6 + 2 * releases
for i = 0, (#KEYS - rooms + 1) / 2 - 1 do
    if redis.call('HGET', KEYS[rooms + 2 * i], 'revision') ~= ARGV[sheets + 9 * i + 6] then
        return {{'changed'}}
    end
end
local released = {{}}
redis.call('SET', KEYS[7], ARGV[4])
for i = 1, releases do
    local game = ARGV[4 + 2 * i]
    local place = redis.call('HGET', KEYS[8 + i], game)
    if place then
        redis.call('HDEL', KEYS[8 + i], game)
        released[#released + 1] = {{ARGV[5 + 2 * i], game, place}}
    end
end
for i = 0, (#KEYS - rooms + 1) / 2 - 1 do
    local at = sheets + 9 * i
    redis.call('HSET', KEYS[rooms + 2 * i], 'row', ARGV[at + 7], 'revision', ARGV[at + 8])
    free_code(KEYS[rooms + 2 * i + 1], ARGV[at])
    file(at)
end
local outcome = cjson.encode(released)
redis.call('HSET', KEYS[8], 'token', ARGV[2], 'outcome', outcome)
return {{'done', outcome}}
""",
)

FORGET_ROOM: Final = Script(
    "forget_room",
    f"""{_FENCE}
-- KEYS: lease, ended, room, request, game. ARGV: fence, room.
redis.call('DEL', KEYS[3], KEYS[4], KEYS[5])
redis.call('ZREM', KEYS[2], ARGV[2])
return 1
""",
)

ADD_ACCOUNT: Final = Script(
    "add_account",
    f"""{_FENCE}
-- KEYS: lease, account, accounts. ARGV: fence, id, account, when it was made.
redis.call('HSET', KEYS[2], 'account', ARGV[3], 'made', ARGV[4])
redis.call('ZADD', KEYS[3], 0, ARGV[2])
return 1
""",
)

TAKE_BOT: Final = Script(
    "take_bot",
    f"""{_FENCE}
-- KEYS: lease, account, accounts, bots of the owner. ARGV: fence, id, account, when it was made, name,
-- most. The id of the owner's bot of that name, made now or before; nil if there are as many as may be.
local known = redis.call('HGET', KEYS[4], ARGV[5])
if known then return known end
if redis.call('HLEN', KEYS[4]) >= tonumber(ARGV[6]) then return false end
redis.call('HSET', KEYS[4], ARGV[5], ARGV[2])
redis.call('HSET', KEYS[2], 'account', ARGV[3], 'made', ARGV[4])
redis.call('ZADD', KEYS[3], 0, ARGV[2])
return ARGV[2]
""",
)

FORGET_ACCOUNT: Final = Script(
    "forget_account",
    f"""{_FENCE}
-- KEYS: lease, account, accounts, tokens, its seats, its bots, account and bots of its owner.
-- ARGV: fence, id, time before which it was made, owner or nothing, name. 1 if it is gone.
local had = redis.call('HMGET', KEYS[2], 'made', 'token')
if had[1] then
    if tonumber(had[1]) >= tonumber(ARGV[3]) then return 0 end
    if had[2] and redis.call('ZSCORE', KEYS[4], had[2]) then return 0 end
    if redis.call('EXISTS', KEYS[5]) == 1 then return 0 end
    if redis.call('EXISTS', KEYS[ARGV[4] == '' and 6 or 7]) == 1 then return 0 end
end
redis.call('DEL', KEYS[2])
redis.call('ZREM', KEYS[3], ARGV[2])
if ARGV[4] ~= '' then redis.call('HDEL', KEYS[8], ARGV[5]) end
return 1
""",
)

ADD_TOKEN: Final = Script(
    "add_token",
    f"""{_FENCE}
-- KEYS: lease, token, tokens, account. ARGV: fence, id, expiry, player. The account knows its token
-- that lasts longest.
redis.call('SET', KEYS[2], ARGV[3] .. ' ' .. ARGV[4])
redis.call('ZADD', KEYS[3], ARGV[3], ARGV[2])
local had = redis.call('HMGET', KEYS[4], 'made', 'until')
if had[1] and tonumber(had[2] or 0) <= tonumber(ARGV[3]) then
    redis.call('HSET', KEYS[4], 'token', ARGV[2], 'until', ARGV[3])
end
return 1
""",
)

REMOVE_TOKENS: Final = Script(
    "remove_tokens",
    f"""{_FENCE}
-- KEYS: lease, tokens, then each token. ARGV: fence, then their ids.
for i = 2, #ARGV do
    redis.call('DEL', KEYS[i + 1])
    redis.call('ZREM', KEYS[2], ARGV[i])
end
return 1
""",
)

REVOKE: Final = Script(
    "revoke",
    f"""{_FENCE}
-- KEYS: lease, revocations, until, last, by account, this call. ARGV: fence, token, player, before,
-- until. Its number, which is remembered for longer than a call is sent again. That of an account
-- replaces the account's last.
local known = redis.call('GET', KEYS[6])
if known then return tonumber(known) end
local number = redis.call('INCR', KEYS[4])
redis.call('SET', KEYS[6], number, 'PX', 60000)
if ARGV[3] ~= '' then
    local last = redis.call('HGET', KEYS[5], ARGV[3])
    if last then
        redis.call('XDEL', KEYS[2], last .. '-0')
        redis.call('ZREM', KEYS[3], last)
    end
    redis.call('HSET', KEYS[5], ARGV[3], number)
end
redis.call('XADD', KEYS[2], number .. '-0', 't', ARGV[2], 'p', ARGV[3], 'b', ARGV[4], 'u', ARGV[5])
redis.call('ZADD', KEYS[3], ARGV[5], number)
return number
""",
)

REMOVE_REVOCATIONS: Final = Script(
    "remove_revocations",
    f"""{_FENCE}
-- KEYS: lease, revocations, until, by account. ARGV: fence, then their numbers.
for i = 2, #ARGV do
    local found = redis.call('XRANGE', KEYS[2], ARGV[i] .. '-0', ARGV[i] .. '-0')
    if found[1] and redis.call('HGET', KEYS[4], found[1][2][4]) == ARGV[i] then
        redis.call('HDEL', KEYS[4], found[1][2][4])
    end
    redis.call('XDEL', KEYS[2], ARGV[i] .. '-0')
    redis.call('ZREM', KEYS[3], ARGV[i])
end
return 1
""",
)
