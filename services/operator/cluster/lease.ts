// One leader among replicas, by a Lease. Times are those of the local clock: a Lease that has not changed for as long as it lasts, as we have seen it, is free.
import { setMaxListeners } from 'node:events';
import { z } from 'zod';
import type { Log } from '../../platform/log.ts';
import { sleepUntil } from '../../platform/time.ts';
import { type Cluster, type Key, microTime, type Resource } from './cluster.ts';

export type LeaseOptions = {
  readonly cluster: Cluster;
  readonly key: Key;
  /** The name of this process, new at each start. */
  readonly identity: string;
  readonly stopping: AbortSignal;
  readonly log: Log;
  readonly timing?: typeof defaults;
};

/** The leader gives up before another one may take over: what it had under way is cut with the signal. */
const defaults = { lastsMs: 12_000, givesUpAfterMs: 8000, everyMs: 2000 };

const resource: Resource = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', plural: 'leases' };
const Spec = z.object({ holderIdentity: z.string().nullish(), leaseTransitions: z.int().optional() });

/** Waits to lead, and runs `lead` until its signal says that it does not any more; over and over until stopping. */
export async function whileLeading(options: LeaseOptions, lead: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const { stopping, log, timing = defaults } = options;
  const lease = createLease(options, timing);
  while (!stopping.aborted) {
    const begun = performance.now();
    const isOurs = await lease.tryToHold().catch((error: unknown) => void log.warn({ error }, 'acquiring the Lease failed; retrying'));
    if (!isOurs) {
      await sleepUntil(stopping, timing.everyMs);
      continue;
    }
    log.info('leading');
    const leading = new AbortController();
    setMaxListeners(0, leading.signal);
    const kept = keep(lease, { begun, stopping, leading, log, timing });
    await lead(AbortSignal.any([leading.signal, stopping])).catch((error: unknown) => log.error({ error }, 'leading failed'));
    leading.abort();
    await kept;
    log.info('not leading any more');
    if (stopping.aborted) await lease.release().catch((error: unknown) => log.warn({ error }, 'releasing the Lease failed'));
  }
}

type Keeping = {
  readonly begun: number;
  readonly stopping: AbortSignal;
  readonly leading: AbortController;
  readonly log: Log;
  readonly timing: typeof defaults;
};

/** Renews until another process holds the Lease, it cannot be renewed in time, or leading has ended. */
async function keep(lease: ReturnType<typeof createLease>, { begun: heldAt, stopping, leading, log, timing }: Keeping): Promise<void> {
  const ends = AbortSignal.any([stopping, leading.signal]);
  const stopLeading = (why: string) => {
    log.warn(`${why}; leading ends`);
    leading.abort();
  };
  const giveUpAt = (at: number) => setTimeout(() => stopLeading('the Lease was not renewed in time'), Math.max(0, at - performance.now()));
  // Whatever a renewal does, or the pause before it, the leader leads no longer than it may.
  let giveUp = giveUpAt(heldAt + timing.givesUpAfterMs);
  while (await sleepUntil(ends, timing.everyMs)) {
    const begun = performance.now();
    const renewed = lease.tryToHold().catch((error: unknown) => {
      if (!ends.aborted) log.warn({ error }, 'renewing the Lease failed; retrying');
      return undefined;
    });
    const isOurs = await Promise.race([renewed, sleepUntil(leading.signal, timing.lastsMs).then(() => undefined)]);
    if (isOurs && !leading.signal.aborted) {
      clearTimeout(giveUp);
      giveUp = giveUpAt(begun + timing.givesUpAfterMs);
    } else if (isOurs === false) stopLeading('another process holds the Lease');
  }
  clearTimeout(giveUp);
}

function createLease({ cluster, key, identity }: LeaseOptions, timing: typeof defaults) {
  /** No version: there is none, and as far as we know there never was. */
  let seen = { version: '', at: Number.NEGATIVE_INFINITY };
  let isHeld = false;

  async function attempt(): Promise<boolean> {
    const found = await cluster.get(resource, key);
    const resourceVersion = found?.metadata.resourceVersion ?? '';
    if (seen.version !== resourceVersion) seen = { version: resourceVersion, at: performance.now() };
    const isUnchanged = performance.now() - seen.at >= timing.lastsMs;
    const spec = { holderIdentity: identity, leaseDurationSeconds: Math.ceil(timing.lastsMs / 1000), renewTime: microTime(new Date()) };
    if (!found) {
      // After a deletion by hand the leader makes it again; until it notices, others wait.
      if (!isHeld && !isUnchanged) return false;
      return (await cluster.create(resource, { metadata: key, spec: { ...spec, acquireTime: spec.renewTime, leaseTransitions: 0 } })) !== 'conflict';
    }
    const { holderIdentity, leaseTransitions = 0 } = Spec.parse(found['spec'] ?? {});
    const isOurs = holderIdentity === identity;
    if (!isOurs && holderIdentity && !isUnchanged) return false;
    const taken = isOurs ? spec : { ...spec, acquireTime: spec.renewTime, leaseTransitions: leaseTransitions + 1 };
    // The version in the patch makes the API server refuse it when another process was quicker.
    return (await cluster.patch(resource, key, { metadata: { resourceVersion }, spec: taken })) !== undefined;
  }

  return {
    /** @returns whether we hold it now */
    tryToHold: async (): Promise<boolean> => (isHeld = await attempt()),
    async release(): Promise<void> {
      const found = await cluster.get(resource, key);
      if (Spec.parse(found?.['spec'] ?? {}).holderIdentity !== identity) return;
      await cluster.patch(resource, key, { metadata: { resourceVersion: found?.metadata.resourceVersion }, spec: { holderIdentity: '' } });
    },
  };
}
