// Events of Signalbox' own: a service adds them in its transactions, and they are posted to Events__Url.
import type { Secret } from '../config/secret.ts';
import type { Values } from '../config/config.ts';
import { integer, optional, randomCredential, webhookSecretList, url } from '../config/settings.ts';
import type { Log } from '../log.ts';
import { forScrape, type Metrics } from '../metrics.ts';
import type { Database } from '../postgres/pool.ts';
import type { Lifecycle } from '../process/lifecycle.ts';
import { runPeriodically } from '../process/periodic-job.ts';
import { dayMs, hourMs, withTimeout } from '../time.ts';
import { type PosterTiming, startPoster } from './poster.ts';
import { createEventStore, type EventStore, insertEvents, type OwnEvent } from './store.ts';

export type { OwnEvent } from './store.ts';

export const eventSettings = {
  eventsUrl: optional(
    url('Events__Url', ['http', 'https'], { summary: "URL that receives events of Signalbox' own by POST; without it none is stored", isInternal: true }),
  ),
  eventsSecrets: optional(
    webhookSecretList('Events__Secret', {
      summary: "Secrets that sign events of Signalbox' own, and by which the intake verifies them; several for a rotation. Required with Events__Url",
      generate: randomCredential,
      isInternal: true,
    }),
  ),
  ownEventsDays: integer('Retention__OwnEventsDays', {
    summary: "Days that an event of Signalbox' own is kept; one that could not be posted by then is dropped",
    min: 1,
    max: 365,
    default: 7,
  }),
} as const;

export type EventConfig = Values<typeof eventSettings>;

/** The faults between these settings, for `readSettings`. */
export const eventFaults = ({ eventsUrl, eventsSecrets }: Pick<EventConfig, 'eventsUrl' | 'eventsSecrets'>): string[] =>
  eventsUrl !== undefined && eventsSecrets === undefined ? ['Events__Secret is required with Events__Url'] : [];

export type Outbox = {
  /**
   * Stores events with the change that they tell of; nothing where no Events__Url is set. Lock or change the row of the object before:
   * then two transactions that add events of one object do so one after the other, and the order is that of their commits.
   */
  add(inTransaction: Database, events: readonly OwnEvent[]): Promise<void>;
};

/** For a process that adds events and leaves posting to the service: a worker, a command. */
export const createOutbox = ({ eventsUrl }: Pick<EventConfig, 'eventsUrl'>): Outbox => ({
  async add(inTransaction, events) {
    if (eventsUrl !== undefined && events.length > 0) await insertEvents(inTransaction, events);
  },
});

type Parts = {
  /** The name of the service. */
  readonly deployable: string;
  readonly database: Database;
  readonly lifecycle: Lifecycle;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock: () => Date;
  readonly timing?: PosterTiming;
};

const timeoutMs = 10_000;
const stopMs = 12_000;

/** Posts the events of the service until its lifecycle stops: each at least once, those of one object in order. `wake` tells that there are new ones. */
export function startEvents(config: EventConfig, parts: Parts): Outbox & { readonly wake: () => void } {
  const { eventsUrl, eventsSecrets } = config;
  const outbox = createOutbox(config);
  if (eventsUrl === undefined || eventsSecrets === undefined) return { ...outbox, wake: () => undefined };
  const store = createEventStore(parts.database);
  return { ...outbox, wake: startPosting(store, { ...config, eventsUrl, eventsSecrets }, parts) };
}

type Posting = { readonly eventsUrl: string; readonly eventsSecrets: readonly Secret[]; readonly ownEventsDays: number };

function startPosting(store: EventStore, { eventsUrl, eventsSecrets, ownEventsDays }: Posting, parts: Parts): () => void {
  const { deployable, lifecycle, log, metrics, clock, timing } = parts;
  const counter = metrics.counter({
    name: 'signalbox_own_events_total',
    help: "Events of Signalbox' own by what became of an attempt to post them: sent, failed (retried), dropped (too old).",
    labels: ['deployable', 'outcome'],
    series: ['sent', 'failed', 'dropped'].map((outcome) => ({ deployable, outcome })),
  });
  measureWaiting(store, { deployable, metrics });
  const poster = startPoster({
    ...timing,
    store,
    to: { url: eventsUrl, secrets: eventsSecrets, timeoutMs, clock },
    stopping: lifecycle.stopping,
    log,
    onOutcome: (outcome) => counter.inc({ deployable, outcome }),
  });
  // A receiver that hangs does not hold up the process: the claim of its event runs out.
  lifecycle.onStop('events', () => withTimeout(poster.ended(), stopMs, () => undefined));
  const work = async () => {
    const before = new Date(clock().getTime() - ownEventsDays * dayMs);
    await store.deleteSent(before);
    const dropped = await store.deleteUnsent(before);
    counter.inc({ deployable, outcome: 'dropped' }, dropped);
    if (dropped > 0) log.error({ dropped }, 'events that could not be posted are too old, dropped');
  };
  runPeriodically(parts, { name: `${deployable}.own-events`, everyMs: hourMs, work });
  return poster.wake;
}

function measureWaiting(store: EventStore, { deployable, metrics }: { readonly deployable: string; readonly metrics: Metrics }): void {
  const ask = forScrape(() => store.waiting());
  const gauge = (name: string, help: string, member: 'waiting' | 'oldestSeconds') =>
    metrics.gauge({
      name,
      help,
      labels: ['deployable'],
      async collect(reading) {
        const state = await ask();
        if (state) reading.set({ deployable }, state[member]);
      },
    });
  gauge('signalbox_own_events_waiting', "Events of Signalbox' own that wait to be posted.", 'waiting');
  gauge('signalbox_own_events_oldest_seconds', "Age of the oldest event of Signalbox' own that was not posted.", 'oldestSeconds');
}
