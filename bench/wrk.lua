-- Hands wrk the next of the requests prepared in the file BENCH_REQUESTS (each behind its length,
-- four bytes, lowest first), and prints what wrk counted as one line of JSON (load.py reads it).

local file = assert(io.open(os.getenv("BENCH_REQUESTS"), "rb"))
local requests, at = {}, 0
while true do
  local head = file:read(4)
  if not head then break end
  local a, b, c, d = head:byte(1, 4)
  requests[#requests + 1] = file:read(a + b * 256 + c * 65536 + d * 16777216)
end
file:close()

request = function()
  at = at % #requests + 1
  return requests[at]
end

done = function(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    'measured {"requests":%d,"seconds":%.6f,"p50_us":%d,"p99_us":%d,"max_us":%d,' ..
    '"refused":%d,"failed":%d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50), latency:percentile(99),
    latency.max, errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end
