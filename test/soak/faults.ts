// Faults during a soak, by chance: processes and servers are killed, stopped, suspended and started again, clocks are stepped, and a disk is full.
import { describeError } from '../../services/platform/errors.ts';
import { sleepUntil } from '../../services/platform/time.ts';
import type { Installation } from './installation.ts';
import type { Random } from './random.ts';

export type Faults = {
  readonly kills: () => number;
  readonly counts: () => string;
  /** Promises that were broken on the way. */
  readonly broken: readonly string[];
  /** Whether an answer of a process of the service at this moment may have been followed at once by the end of the process. */
  wasKilledAfter(service: string, at: number): boolean;
  /** Whether all servers ran since. */
  isWholeSince(at: number): boolean;
  /** Goes on until stopped, or all kills are done. @returns when everything runs again */
  run(stopping: AbortSignal): Promise<void>;
};

type Kind = { readonly weight: number; readonly kill?: true; /** Undefined where nothing of the kind can be done now. */ run(): Promise<void> | undefined };

/** How long entries that are written in batches may wait for their batch. */
const batchMs = 1000;
/** A stop of a service and everything that it has in hand. */
const longestStopMs = 35_000;
const longestStepSeconds = 120;

type Parts = { readonly installation: Installation; readonly random: Random; readonly everyMs: number; readonly mostKills: number };

export function createFaults({ installation: { postgres, rabbitmq, slots, smallDisk }, random, everyMs, mostKills }: Parts): Faults {
  const counts: Record<string, number> = {};
  const broken: string[] = [];
  const killed: { readonly name: string; readonly at: number }[] = [];
  const outages: { readonly from: number; to: number }[] = [];
  const busy = new Set<string>();
  let kills = 0;

  /** Does nothing where the target has a fault already. */
  function on(target: string, kind: string, work: () => Promise<unknown>): Promise<void> | undefined {
    if (busy.has(target)) return undefined;
    busy.add(target);
    counts[kind] = (counts[kind] ?? 0) + 1;
    return work()
      .then(
        () => undefined,
        (error: unknown) => void broken.push(`${kind}: ${describeError(error)}`),
      )
      .finally(() => busy.delete(target));
  }

  async function outage(work: () => Promise<unknown>): Promise<void> {
    const one = { from: Date.now(), to: Infinity };
    outages.push(one);
    try {
      await work();
    } finally {
      // Connections come back a while after the server.
      await new Promise((resolve) => setTimeout(resolve, 10_000));
      one.to = Date.now();
    }
  }
  const isWholeSince = (at: number) => outages.every(({ to }) => to < at);

  const anySlot = () => random.pick(slots);
  const lasting = () => new Promise((resolve) => setTimeout(resolve, 2000 + random.below(10_000)));

  async function restart(slot: ReturnType<typeof anySlot>): Promise<void> {
    const begun = Date.now();
    const code = await slot.restart();
    const tookMs = Date.now() - begun;
    if (!isWholeSince(begun)) return;
    if (code !== 0) broken.push(`${slot.name} ended with ${code} after SIGTERM`);
    if (tookMs > longestStopMs) broken.push(`${slot.name} took ${tookMs} ms to stop`);
  }

  const kinds: readonly Kind[] = [
    {
      weight: 56,
      kill: true,
      run() {
        const slot = anySlot();
        return on(slot.name, 'process killed', () => (killed.push({ name: slot.name, at: Date.now() }), slot.kill()));
      },
    },
    {
      weight: 6,
      kill: true,
      run: () => on('Postgres', 'Postgres killed', () => outage(async () => (await postgres.kill(), await lasting(), await postgres.start()))),
    },
    {
      weight: 6,
      kill: true,
      run: () => rabbitmq && on('RabbitMQ', 'RabbitMQ killed', () => outage(async () => (await rabbitmq.kill(), await rabbitmq.start()))),
    },
    {
      weight: 18,
      run() {
        const slot = anySlot();
        return on(slot.name, 'process restarted', () => restart(slot));
      },
    },
    {
      weight: 8,
      run() {
        const slot = anySlot();
        return on(slot.name, 'process suspended', async () => (slot.suspend(), await lasting(), slot.resume()));
      },
    },
    {
      weight: 6,
      run() {
        const { name, clock } = anySlot();
        if (!clock) return undefined;
        const seconds = random.below(2 * longestStepSeconds) - longestStepSeconds;
        return on(name, 'clock stepped', async () => (clock.set(seconds), await lasting(), clock.set(0)));
      },
    },
    { weight: 2, run: () => on('Postgres', 'Postgres restarted', () => outage(async () => (await postgres.stop(), await lasting(), await postgres.start()))) },
    {
      weight: 2,
      run: () => rabbitmq && on('RabbitMQ', 'RabbitMQ suspended', () => outage(async () => (rabbitmq.hang(), await lasting(), rabbitmq.resume()))),
    },
    {
      weight: 2,
      run: () =>
        rabbitmq &&
        smallDisk &&
        on('RabbitMQ', 'disk full while RabbitMQ is away', () =>
          outage(async () => {
            smallDisk.fill();
            await rabbitmq.stop();
            await lasting();
            smallDisk.free();
            await rabbitmq.start();
          }),
        ),
    },
  ];

  function pick(): Kind {
    let place = random.below(kinds.reduce((sum, { weight }) => sum + weight, 0));
    return kinds.find(({ weight }) => (place -= weight) < 0) ?? random.pick(kinds);
  }

  return {
    broken,
    isWholeSince,
    kills: () => kills,
    counts: () =>
      Object.entries(counts)
        .map(([kind, count]) => `${kind} ${count}×`)
        .join(', '),
    wasKilledAfter: (service, at) =>
      killed.some(({ name, at: end }) => {
        if (!name.startsWith(`${service}-`) || end < at) return false;
        const heldSince = Math.min(end, ...outages.filter(({ from, to }) => from <= end && to >= end).map(({ from }) => from));
        return at >= heldSince - batchMs;
      }),
    async run(stopping) {
      const underWay = new Set<Promise<void>>();
      while (!stopping.aborted && kills < mostKills) {
        await sleepUntil(stopping, everyMs);
        const kind = stopping.aborted ? undefined : pick();
        const fault = kind?.run();
        if (!fault) continue;
        if (kind?.kill) kills += 1;
        underWay.add(fault);
        void fault.finally(() => underWay.delete(fault));
      }
      await Promise.all(underWay);
      await Promise.all(slots.map((slot) => slot.ready()));
    },
  };
}
