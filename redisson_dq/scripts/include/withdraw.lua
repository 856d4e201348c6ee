-- Takes an item away from wherever it is (whereabouts.lua). A leased item is dropped when it comes back.
-- INCLUDE: remember, out, unlearn, letters, room, need, unpark
local function withdraw(item, record, at, remember_ms, now_ms)
  if at.d then
    local has_capacity = redis.call('EXISTS', keys.capacity) == 1
    need({'DEL', 'EXISTS', 'HSET', 'LLEN', 'LREM'}, has_capacity and {'GET', 'INCRBY'} or {})
  end
  local due = at.due
  if at.state == 'leased' then
    redis.call('HSET', keys.records, 'c' .. item, at.id)
  elseif at.state == 'dead' then
    redis.call('LREM', keys.dead, 1, at.value)
    forget_letter(at.id)
    drop_orphans()
  elseif at.state == 'ready' then
    redis.call('LREM', at.list, at.newer == 0 and -1 or 1, at.value)
    unlearn(at.id, at.text)
    unpark(at.id, item, at.d)
  else
    take_out(at.id, at.member, at.text)
    unpark(at.id, item, at.d)
  end
  -- A value that was ready once has a place in a bounded queue until it leaves.
  local stood = at.state == 'ready' or at.id ~= item and at.state ~= 'leased' and at.state ~= 'dead'
  make_room(stood and 1 or 0)
  live_until(bury(item, record, due, remember_ms, now_ms), now_ms)
  if at.state == 'leased' then
    live_until(forget_at(item, math.max(due, now_ms) + math.max(remember_ms, 60000)), now_ms)
  end
end
