// The fuzzer: sends very many requests to every service of the house at once, and says what must never happen and did.
import fc from 'fast-check';
import { createSemaphore } from '../../../services/platform/semaphore.ts';
import { eventually } from '../../support/wait.ts';
import { mebibyte, residentBytes } from '../../support/usage.ts';
import { heldCredentials } from '../credentials.ts';
import { deadLetters, metric } from '../delivering.ts';
import { type House, type Running, startHouse } from '../house.ts';
import { credentialHeader, type Operation, operationsOf } from '../operations.ts';
import { anyRequest, isSigned, plainRequest, type Planned } from './requests.ts';
import { learn, type Partner, type Received, send, type Written, write } from './sender.ts';

export type FuzzOptions = { readonly requests: number; readonly seed: number; readonly say: (line: string) => void };

export type Finding = { readonly what: string; readonly count: number; readonly example: string };

export type FuzzResult = {
  readonly findings: readonly Finding[];
  /** By the first digit; `none` for no answer to what is no whole request, or no HTTP. */
  readonly answers: Readonly<Record<string, number>>;
  readonly accepted: number;
  /** Reasons of dead letters, and how many have each. */
  readonly deadLetters: Readonly<Record<string, number>>;
  /** MiB of each process: when a fifth of the requests were sent, at the half, and at the end. */
  readonly memory: Readonly<Record<string, readonly number[]>>;
};

const atOnce = 24;
const slowMs = 2000;
/** Between the half and the end of a long run. */
const levelMebibytes = 64;
const longRun = 20_000;

export async function fuzz({ requests, seed, say }: FuzzOptions): Promise<FuzzResult> {
  const house = await startHouse();
  try {
    const workers = [await house.startWorker('service'), await house.startWorker('database-service')];
    const run = await createRun(house);
    const processes = [...house.services, ...workers];
    const memory = Object.fromEntries(processes.map(({ name }) => [name, [] as number[]]));
    const measure = () => processes.forEach(({ name, process }) => memory[name]?.push(Math.round(residentBytes(process.pid) / mebibyte)));
    let sent = 0;
    // Every operation at least once, since chance may leave one out.
    for (const operation of run.operations) await run.take(plainRequest(operation, seed));
    const property = fc.asyncProperty(anyRequest(run.operations), async (planned) => {
      await run.take(planned);
      sent += 1;
      if (sent === Math.floor(requests / 5) || sent === Math.floor(requests / 2)) measure();
      if (sent % 10_000 === 0) say(`${sent} requests`);
    });
    // Each request counts by itself and is judged when its answer comes: there is nothing to shrink.
    await fc.assert(property, { seed, numRuns: requests, endOnFailure: true });
    await run.settle();
    measure();
    for (const { name, process } of processes) run.judgeLog(name, process.lines);
    run.judgeOperations(house);
    const reasons = await settledDeadLetters(house, workers, run.accepted());
    for (const reason of Object.keys(reasons)) run.judgeReason(reason);
    if (requests >= longRun) for (const [name, sizes] of Object.entries(memory)) run.judgeMemory(name, sizes);
    return { findings: run.findings(), answers: run.answers, accepted: run.accepted(), deadLetters: reasons, memory };
  } finally {
    await house.close();
  }
}

async function createRun(house: House) {
  const operations = house.services.flatMap(({ name }) => operationsOf(name));
  const partners = await createPartners(house, operations);
  const room = createSemaphore(atOnce);
  const found = new Map<string, { count: number; example: string }>();
  const answers: Record<string, number> = {};
  let accepted = 0;

  function find(what: string, example: string): void {
    const known = found.get(what);
    if (known) known.count += 1;
    else found.set(what, { count: 1, example });
  }

  async function attempt(planned: Planned): Promise<void> {
    const { operation } = planned;
    const partner = partners.get(operation.service);
    if (!partner) throw new Error(`${operation.service} does not run`);
    const written = write(planned, partner);
    const received = await send(partner.port, written);
    // A request that is slow by itself, not because the machine is busy, is slow twice.
    const isSlow = received.ms > slowMs && (await send(partner.port, written)).ms > slowMs;
    const kind = received.status === undefined ? 'none' : `${Math.floor(received.status / 100)}xx`;
    answers[kind] = (answers[kind] ?? 0) + 1;
    if (isSigned(operation) && received.status === 202) accepted += 1;
    for (const what of [...faultsOf(planned, written, received), ...(isSlow ? [`slower than ${slowMs} ms`] : [])])
      find(
        `${what}: ${operation.method.toUpperCase()} ${operation.path}`,
        `${describe(planned, written)}\n→ ${received.status} after ${Math.round(received.ms)} ms ${received.body.slice(0, 300)}`,
      );
    if (received.status !== undefined && received.status < 300) learn(partner, received.body, partner.keySchemes);
  }

  return {
    operations,
    answers,
    accepted: () => accepted,
    /** Resolves as soon as another one may be sent. */
    async take(planned: Planned): Promise<void> {
      await room.acquire(1, 60_000);
      void attempt(planned).finally(() => room.release(1));
    },
    settle: async () => void (await room.acquire(atOnce, 60_000)),
    findings: (): readonly Finding[] => [...found].map(([what, rest]) => ({ what, ...rest })),
    judgeLog(name: string, lines: readonly string[]): void {
      for (const line of lines) if (!harmless.test(line)) find(`a line of ${name} that is an error`, line.slice(0, 2000));
    },
    judgeOperations({ services }: House): void {
      for (const { name, process } of services) {
        const hit = new Set(process.lines.flatMap((line) => /"method":"(\w+)","route":"([^"]+)"/.exec(line)?.slice(1).join(' ') ?? []));
        for (const { method, path } of operationsOf(name))
          if (!isQuiet(path) && !hit.has(`${method.toUpperCase()} ${path}`)) find(`not hit: ${method.toUpperCase()} ${path}`, name);
      }
    },
    judgeReason(reason: string): void {
      if (reason.length < 10 || internalWords.test(reason)) find('a dead letter without a reason that a person understands', reason);
    },
    judgeMemory(name: string, [, half = 0, end = 0]: readonly number[]): void {
      if (end - half > levelMebibytes) find(`memory of ${name} is not level`, `${half} MiB at the half, ${end} MiB at the end`);
    },
  };
}

/** Their lines are of a level that is not logged. */
const isQuiet = (path: string) => path === '/health' || path === '/health/ready';

/** A line that is no error, or tells of a dead letter: those are judged by their reasons. */
const harmless = /^\{"level":"(?:trace|debug|info|warn)"|"msg":"dead-lettered"\}$/;

/** Words of errors of the database and the runtime. */
const internalWords = /null value in column|invalid input syntax|violates|undefined|\[object|out of range for type/;

function faultsOf({ operation, mutations }: Planned, { isWhole, method }: Written, { status, headers, body }: Received): readonly string[] {
  if (status === undefined) return isWhole ? ['no answer'] : [];
  const isDocument = headers.get('content-type') === 'application/problem+json';
  if (status === 503 && operation.statuses.includes(503) && isDocument) return [];
  if (status >= 500) return [`answered ${status}`];
  if (isDocument && method !== 'HEAD' && !isJson(body)) return [`a problem document that is no JSON, with ${status}`];
  const isUndescribed = mutations.length === 0 && !operation.statuses.includes(status);
  return isUndescribed ? [`answered ${status}, which is not described`] : [];
}

function isJson(latin1: string): boolean {
  try {
    JSON.parse(Buffer.from(latin1, 'latin1').toString());
    return true;
  } catch {
    return false;
  }
}

const describe = ({ mutations, credential }: Planned, { bytes }: Written): string =>
  `[${mutations.map(({ name }) => name).join(', ')}; credential ${credential}] ${bytes.toString('latin1').slice(0, 1500)}`;

type PartnerWithKeys = Partner & {
  /** Schemes whose credentials are made at run time, with their headers. */ readonly keySchemes: ReadonlyMap<string, string>;
};

async function createPartners(house: House, operations: readonly Operation[]): Promise<ReadonlyMap<string, PartnerWithKeys>> {
  const held = await heldCredentials(house);
  return new Map(
    house.services.map(({ name, port }) => {
      const own = held.filter(({ service }) => service === name);
      const credentials = new Map(own.map(({ scheme, header }) => [scheme, header]));
      const schemes = new Set(operations.flatMap(({ service, scheme }) => (service === name && scheme !== undefined ? scheme : [])));
      const keySchemes = new Map([...schemes].filter((scheme) => !credentials.has(scheme)).map((scheme) => [scheme, credentialHeader(name, scheme, '')[0]]));
      return [
        name,
        {
          port,
          credentials,
          keySchemes,
          memory: [],
          webhookSecret: house.settings['Forge__WebhookSecrets'] ?? '',
          sourceSecret: house.settings['Sources__SentrySecrets'] ?? '',
        },
      ];
    }),
  );
}

/** Once every delivery was stored or given up, in both queues. @returns how many dead letters have each reason */
async function settledDeadLetters(house: House, workers: readonly Running[], accepted: number): Promise<Readonly<Record<string, number>>> {
  const queues = ['forge', 'forge-database'];
  // The intake's API, too: it was asked for runs of both.
  const consumers = [...workers, house.service('webhook-intake')];
  const settled = async () => {
    const dead = await deadLetters(house);
    for (const queue of queues) {
      const pattern = new RegExp(`signalbox_intake_deliveries_total\\{queue="${queue}",outcome="(?:stored|duplicate)"\\}`);
      let stored = 0;
      for (const consumer of consumers) stored += await metric(consumer, pattern);
      const given = dead.filter((line) => line.includes(` ${queue} `)).length;
      if (stored + given < accepted) return false;
    }
    return dead;
  };
  const lines = await eventually(settled, { withinMs: 180_000, everyMs: 1000 });
  const reasons = lines.map((line) => line.split(/ {2,}/).slice(4).join('  '));
  return Object.fromEntries([...Map.groupBy(reasons, (reason) => reason)].map(([reason, same]) => [reason, same.length]));
}
