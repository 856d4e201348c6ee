-- Finds the state of an item whose entry waits for its time. A call that put the item off has noted the due time as the item's.
local function state_of_waiting(item, due, id, d)
  if d.attempt > 0 then
    return 'retrying'
  end
  return (d.turn or id ~= item and d.order ~= due) and 'parked' or 'waiting'
end
