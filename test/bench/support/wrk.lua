-- What wrk sends, and how it reports: one prepared request, its body from the file that is the first argument; at the end a line of JSON.
function init(args)
  if args[1] then
    local file = assert(io.open(args[1], 'rb'))
    wrk.method = 'POST'
    wrk.body = file:read('*a')
    file:close()
  end
end

function done(summary, latency)
  local e = summary.errors
  io.write(string.format('{"requests":%d,"microseconds":%d,"p95":%f,"p99":%f,"failed":%d}\n', summary.requests, summary.duration, latency:percentile(95), latency:percentile(99),
    e.connect + e.read + e.write + e.status + e.timeout))
end
