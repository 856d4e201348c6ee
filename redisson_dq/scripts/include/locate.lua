-- Finds the item a call names.
-- INCLUDE: records, named, delivery_record, whereabouts

-- key: 'i' .. id of the caller's, or ''; id, due: of the entry, or ''. Returns the id of the item's entry, its due
-- time, its record, and where it is. There is no id when nothing is known of it, and no place when it is settled.
local function locate(key, id, due, now_ms)
  if id == '' then
    id = redis.call('HGET', keys.records, key)
    if not id then
      return nil
    end
  end
  local record, form = record_of(id)
  refuse_newer('records', form)
  local text
  if not record then
    -- The entry may be that of a retry.
    text = redis.call('HGET', keys.deliveries, id)
    local item = item_at(id, parsed(text))
    if item ~= id then
      id, record, text = item, record_of(item), nil
    end
  end
  due = record and record.due or tonumber(due)
  if not due then
    return nil
  end
  return id, due, record, whereabouts(id, due, now_ms, text)
end
