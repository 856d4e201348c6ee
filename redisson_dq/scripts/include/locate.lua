-- Finds the item a call names.
-- KEYS: records
-- INCLUDE: find, records, refuse_newer

-- key: 'i' .. id of the caller's, or ''; id, due: of the entry, or ''. Gives id, due, record, member: no id when
-- nothing is known of it, no member when it does not wait.
local function locate(key, id, due)
  if id == '' then
    id = redis.call('HGET', keys.records, key)
    if not id then
      return nil
    end
  end
  local record, form = record_of(id)
  refuse_newer('records', form)
  due = record and record.due or tonumber(due)
  if not due then
    return nil
  end
  return id, due, record, find(id, due)
end
