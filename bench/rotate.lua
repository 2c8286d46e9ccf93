-- Load script of the benchmark: sends the requests of a file in rotation and prints the figures as one JSON line.
-- A line is a path, requested with GET, or a method, a path and a JSON body, separated by tabs.

local requests = {}
local counter
-- wrk calls `request` once for inspection before it sends any request.
sent = -1

function setup(thread)
  counter = thread
end

function init(args)
  if args[2] ~= "" then wrk.headers["Authorization"] = "Bearer " .. args[2] end
  for i = 3, #args do
    local name, value = args[i]:match("^([^:]+): (.*)$")
    wrk.headers[name] = value
  end
  for line in io.lines(args[1]) do
    local method, path, body = line:match("^(%u+)\t(%S+)\t(.*)$")
    if method then
      local headers = { ["Content-Type"] = "application/json" }
      for name, value in pairs(wrk.headers) do headers[name] = value end
      requests[#requests + 1] = wrk.format(method, path, headers, body)
    else
      requests[#requests + 1] = wrk.format("GET", line)
    end
  end
end

function request()
  sent = sent + 1
  return requests[math.max(sent - 1, 0) % #requests + 1]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\nRESULT {"requests":%d,"sent":%d,"micros":%d,"p50":%d,"p99":%d,"max":%d,"refused":%d,"broken":%d}\n',
    summary.requests, counter:get("sent"), summary.duration, latency:percentile(50), latency:percentile(99), latency.max,
    errors.status, errors.connect + errors.read + errors.write + errors.timeout
  ))
end
