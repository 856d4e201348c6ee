-- Notes in the record of a delivery how far the work on its value has come.
--
-- The cursor comes last in the context, as base64 of JSON. So it goes with the record from lease to lease. An older
-- client reads it as a part of the context, and passes it on.

local function with_cursor(context, cursor)
  local rest = string.gsub(context, ',? ?"redisson_dq%.cursor":"[%w_-]*"}$', '}')
  local begun = (rest == '' or rest == '{}') and '{' or string.sub(rest, 1, -2) .. ', '
  return begun .. '"redisson_dq.cursor":"' .. cursor .. '"}'
end
