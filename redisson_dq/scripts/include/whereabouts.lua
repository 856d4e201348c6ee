-- Finds out where an item is: waiting, leased, ready or dead.
-- INCLUDE: envelope, find, delivery_record, named, known_of, letters, forms, state

-- Refuses a call that cannot go on without a text in a newer form: nil where this version knows it. Called before the first
-- write. The client's error names the key (calls/explaining.py).
local function refuse_newer(name, form)
  if form then
    error('NEWERFORM ' .. name .. ' ' .. form)
  end
end

-- The most newer equal values that are looked at.
local NEWER = 100

-- How far Java's clock may be ahead, and its transfer early.
local EARLY_MS = 2000

-- How many equal values were ready later, as far as they are known. A value that is gone long before its time was taken
-- out, as a rule. So all others go before it.
local function newer_than(id, d, order, value, now_ms)
  local low = '(' .. (order > now_ms + EARLY_MS and d.digest or place(id, {digest = d.digest, order = order}))
  local high = '(' .. place('', {digest = d.digest, order = now_ms + EARLY_MS})
  local count = 0
  for _, member in ipairs(redis.call('ZRANGEBYLEX', keys.histories, low, high, 'LIMIT', 0, NEWER)) do
    if not stands(string.sub(member, 41), value) then
      count = count + 1
    end
  end
  return count
end

-- Where an item is, or nil when it is nowhere. The argument due is that of its entry. text: what deliveries has under the
-- item's id, if the caller has read it.
local function whereabouts(item, due, now_ms, text)
  local id, kind = place_of(item)
  if kind == 'd' then
    local info = redis.call('HGET', keys.dead_info, id)
    refuse_newer('dead_info', newer_form('dead_info', info))
    local at, _, text, value = letter(info)
    if at and redis.call('LPOS', keys.dead, value) then
      return {state = 'dead', id = id, d = parsed(text), value = value, due = tonumber(at)}
    end
    return nil
  end
  if text == nil or id ~= item then
    text = redis.call('HGET', keys.deliveries, id)
  end
  local d = parsed(text)
  if not d then
    local member = find(item, due)
    refuse_newer('deliveries', not member and newer_form('deliveries', text))
    return member and {
      state = 'waiting', id = item, member = member, text = text, value = unwrap(member), due = due,
    }
  end
  local deadline = tonumber(redis.call('ZSCORE', keys.leases, id) or nil)
  local order = deadline or d.order
  local member = find(id, order)
  local found = {id = id, d = d, text = text, member = member, due = order, value = member and unwrap(member)}
  if member then
    local is_held = deadline and deadline > now_ms
    found.state = is_held and 'leased' or state_of_waiting(item, due, id, d)
    return found
  end
  -- Equal values count for each other. A caller that takes one takes the oldest. So it is ready when more of them are
  -- ready than have come later.
  local value = redis.call('HGET', keys.records, 'v' .. item)
  if not value then
    return nil
  end
  local newer = newer_than(id, d, order, value, now_ms)
  for _, list in ipairs({keys.ready, keys.arrivals}) do
    local places = redis.call('LPOS', list, value, 'COUNT', newer + 1)
    if #places > newer then
      found.state, found.value, found.list, found.newer = 'ready', value, list, newer
      return found
    end
    newer = newer - #places
  end
  return nil
end
