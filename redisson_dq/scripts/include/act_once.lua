-- Acts once on each of some entries, however often the call is sent, and remembers for a day which of them it left.
-- INCLUDE: once, events
--
--   returned   nonce                 the call was carried out
--              nonce .. index        the outcome of this entry, one letter after the index in 2 bytes, unless it was done

-- The outcomes of a call that was carried out before, or nil. count: of how many entries.
local function told_before(nonce, count, now_ms)
  if not was_done(nonce, '', now_ms) then
    return nil
  end
  local outcomes = {}
  for i = 1, count do
    outcomes[i] = 'done'
  end
  for _, member in ipairs(redis.call('ZRANGE', keys.returned, 0, -1)) do
    if #member > #nonce + 2 and string.sub(member, 1, #nonce) == nonce then
      outcomes[struct.unpack('>I2', member, #nonce + 1)] = string.sub(member, #nonce + 3)
    end
  end
  return outcomes
end

local function remember_left(nonce, outcomes, now_ms)
  for i, outcome in ipairs(outcomes) do
    if outcome ~= 'done' then
      redis.call('ZADD', keys.returned, now_ms, nonce .. struct.pack('>I2', i) .. outcome)
    end
  end
end

-- Calls act with a table that it fills with the outcomes, unless the call was carried out before. Returns the outcomes.
local function act_once(nonce, count, now_ms, who, act)
  local outcomes = told_before(nonce, count, now_ms)
  if not outcomes then
    outcomes = {}
    keep_events(now_ms, who)
    act(outcomes)
    remember_left(nonce, outcomes, now_ms)
  end
  return outcomes
end
