-- Finds out how an item ended that does not wait any more: 'delivered', 'expired', or 'unknown'.
local function fate(id, record, due, remember_ms, now_ms)
  local forget = tonumber(redis.call('ZSCORE', keys.forget, id) or nil)
  if record then
    -- Its time may be over though no sweep has come to it yet.
    if not forget or forget <= now_ms or record.state == 'r' then
      return 'unknown'
    elseif record.state == 'x' then
      return 'expired'
    elseif record.state == 'd' then
      return 'delivered'
    end
  elseif forget or due + remember_ms < now_ms then
    return 'unknown'
  end
  return due > now_ms and 'unknown' or 'delivered'
end
