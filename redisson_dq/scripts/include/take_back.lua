-- Takes back entries that a former version has set aside, and that this version knows, some at a time. They keep their due
-- times.
-- INCLUDE: envelope, newer_entry, foreign
local function take_back()
  local found = redis.call('ZRANGE', keys.newer, 0, 99, 'WITHSCORES')
  for i = 1, #found, 2 do
    local member, due = found[i], found[i + 1]
    if unwrap(member) then
      redis.call('ZADD', keys.timeout, due, member)
      redis.call('ZREM', keys.newer, member)
    elseif not is_newer(member) then
      set_foreign_aside(keys.newer, member, due)
    end
  end
end
