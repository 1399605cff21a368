// Everything the webhook relay says on the wire: to its clients, and to the consumers of its messages.

/** The durable parts of the relay's flow on every broker connection; declared by the platform on connect. */
export const forgeTopology = {
  exchange: 'forge-exchange',
  queues: [
    { name: 'forge', prioritised: true, retryDelaysMs: [1_000, 10_000] },
    { name: 'forge-database', prioritised: true, retryDelaysMs: [1_000, 10_000] },
  ],
  deadLetters: { exchange: 'forge-dead-exchange', queue: 'forge.dead' },
} as const;

/** Headers of a published message; `traceparent` (W3C) comes beside them. Times are ISO 8601 UTC with milliseconds. */
export const messageHeaders = {
  deliveryId: 'x-delivery-id',
  hookId: 'x-hook-id',
  targetId: 'x-target-id',
  targetType: 'x-target-type',
  event: 'x-event',
  action: 'x-action',
  sender: 'x-sender',
  /** owner, person, bot or own-bot. */
  senderClass: 'x-sender-class',
  /** true or false. */
  isCoreFunction: 'x-core-function',
  installationId: 'x-installation-id',
  receivedAt: 'x-received-at',
  relayVersion: 'x-relay-version',
  scoreDescription: 'x-score-description',
} as const;
