-- Load script of the benchmark: changes prices; each line of the file is a path, a tab and a JSON body.

local requests = {}
local at = 0

function init(args)
  wrk.headers["Authorization"] = "Bearer " .. args[2]
  wrk.headers["Content-Type"] = "application/json"
  for line in io.lines(args[1]) do
    local path, body = line:match("^(%S+)\t(.*)$")
    requests[#requests + 1] = wrk.format("PATCH", path, nil, body)
  end
end

function request()
  at = at + 1
  if at > #requests then at = 1 end
  return requests[at]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\nRESULT {"requests":%d,"micros":%d,"bytes":%d,"p50":%d,"p99":%d,"max":%d,"refused":%d,"broken":%d}\n',
    summary.requests, summary.duration, summary.bytes, latency:percentile(50), latency:percentile(99), latency.max,
    errors.status, errors.connect + errors.read + errors.write + errors.timeout
  ))
end
