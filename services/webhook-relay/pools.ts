// How long the relay waits for its database: two pools, since not everything may wait for as long.

/** For all but reservations: statistics, rejected deliveries, the table of the spool. Those who wait for an answer bound that themselves. */
export const generalPool = { schema: 'relay', statementMs: 10_000, answerMs: 12_000 };

/**
 * For reservations. They must fail soon enough to leave time for the spool, also when the server hangs; one that is slow beside a busy
 * node still leaves time to publish.
 */
export const countersPool = { schema: 'relay', maxConnections: 4, connectMs: 3000, statementMs: 4500, answerMs: 5000 };
