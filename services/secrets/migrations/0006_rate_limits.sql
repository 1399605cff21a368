-- Where failed credentials are counted without a Redis. Unlogged: a window that is lost with a crash does no harm.
-- Rows of windows that have passed are deleted by the limiter itself, an hour later.
create unlogged table rate_limits (
  key text primary key,
  points integer not null default 0,
  expire bigint
) with (fillfactor = 50);
