-- Publishes a message to other clients, and reports to the caller whether that was refused.
local refusal, refused_channel = '', ''
-- When the first of the values is due that were added and not announced.
local untold

-- A user may have the right to change a queue and none to publish, which is the default of Redis 7. The change is kept.
local function announce(channel, message)
  local reply = redis.pcall('PUBLISH', channel, message)
  if type(reply) == 'table' and reply.err then
    refusal, refused_channel = reply.err, channel
  end
end

-- The reply of a script that announces: why the message was refused (or ''), the channel, when values that were not
-- announced are due in epoch ms (or ''), the result.
local function reply_with(result)
  return {refusal, refused_channel, untold and string.format('%.0f', untold) or '', result}
end
