// Histories of every typed table, delivered in any order, in any batches and repeatedly, end in the state that their true order leads to.
import { expect } from 'chai';
import fc from 'fast-check';
import { silentLog } from '../../../../../services/platform/log.ts';
import { createMetrics } from '../../../../../services/platform/metrics.ts';
import { createDatabaseServiceWorker } from '../../../../../services/webhook-intake/forge/database-service-worker.ts';
import { allTables } from '../../../../../services/webhook-intake/typed/tables.ts';
import { delivery, type MessageParts } from '../../deliveries.ts';
import { createIntakeDatabase, type IntakeDatabase } from '../../intake-database.ts';
import { at, forgeTime } from './forge-payloads.ts';

type Step = { readonly kind: keyof typeof kinds; readonly choice: number; readonly which: number; readonly pause: number; readonly delay: number };

/** The forge as it changes. */
type World = {
  second: number;
  step: number;
  repository: Record<string, unknown>;
  login: string;
  readonly gone: Set<string>;
  readonly attempts: Map<number, number>;
};

/** Undefined where the object is gone. */
type Kind = (world: World, step: Step) => Pick<MessageParts, 'event' | 'payload'> | undefined;

const pick = <T>(list: readonly T[], choice: number): T => list[choice % list.length] ?? expect.fail('an empty list');

/** An object with an id and a time of its own; `deletedBy` are actions after which nothing more comes of it. */
function object(event: string, member: string, actions: Readonly<Record<string, object>>): Kind {
  return (world, { choice, which }) => {
    const action = pick(Object.keys(actions), choice);
    const id = `${event} ${which}`;
    if (world.gone.has(id)) return undefined;
    if (action === 'deleted' || action === 'transferred') world.gone.add(id);
    const own = {
      id: which,
      number: which,
      title: `step ${world.step}`,
      body: `step ${world.step}`,
      name: `step ${world.step}`,
      updated_at: forgeTime(world.second),
    };
    return { event, payload: { action, [member]: { ...own, ...actions[action] } } };
  };
}

const changeRepository = (world: World, members: object) => (world.repository = { ...world.repository, ...members, updated_at: forgeTime(world.second) });
const push = (world: World, members: object) => {
  changeRepository(world, { pushed_at: forgeTime(world.second) });
  return members;
};
const sha = (world: World) => world.step.toString(16).padStart(40, '1');

const kinds = {
  issues: object('issues', 'issue', {
    opened: { state: 'open' },
    edited: { state: 'open' },
    closed: { state: 'closed' },
    deleted: { state: 'open' },
    transferred: {},
  }),
  comments: object('issue_comment', 'comment', { created: {}, edited: {}, deleted: {} }),
  pulls: object('pull_request', 'pull_request', {
    opened: { state: 'open', merged: false, additions: 1 },
    synchronize: { state: 'open', merged: false, additions: 2 },
    closed: { state: 'closed', merged: true, additions: 3 },
    deleted: { state: 'closed', merged: false },
  }),
  reviews: object('pull_request_review', 'pull_request', { submitted: { state: 'open' }, dismissed: { state: 'closed' } }),
  releases: object('release', 'release', { created: { draft: true }, published: { draft: false, tag_name: 'v1' }, edited: { draft: false }, deleted: {} }),
  installations: object('installation', 'installation', { created: { app_id: 1 }, suspend: { app_id: 2 }, deleted: {} }),
  runs: (world, { choice, which }) => {
    const before = world.attempts.get(which) ?? 1;
    const attempt = choice % 4 === 3 ? before + 1 : before;
    world.attempts.set(which, attempt);
    const status = pick(['queued', 'in_progress', 'completed', 'queued'], choice);
    const run = { id: which, name: `step ${world.step}`, run_attempt: attempt, status, updated_at: forgeTime(world.second) };
    return { event: 'workflow_run', payload: { action: status === 'queued' ? 'requested' : status, workflow_run: run } };
  },
  branches: (world, { choice, which }) => {
    const members = { ref: `b${which}`, ref_type: 'branch', pusher_type: 'user', master_branch: 'main' };
    return { event: pick(['create', 'delete'], choice), payload: push(world, members) };
  },
  pushes: (world, { choice, which }) => {
    const members = { ref: `refs/heads/b${which}`, before: '2'.repeat(40), after: sha(world), commits: [], deleted: false };
    return { event: 'push', payload: push(world, choice % 5 === 4 ? { ...members, after: '0'.repeat(40), deleted: true } : members) };
  },
  renames: (world) => {
    changeRepository(world, { full_name: `railway/signals-${world.step}` });
    return { event: 'repository', payload: { action: 'renamed' } };
  },
  silent: (world) => {
    world.repository = { ...world.repository, description: `step ${world.step}` };
    world.login = `ada-${world.step}`;
    return { event: 'star', payload: { action: 'created' } };
  },
} satisfies Readonly<Record<string, Kind>>;

function historyOf(steps: readonly Step[], isDeletedAtEnd: boolean): MessageParts[] {
  const world: World = {
    second: 0,
    step: 0,
    login: 'ada',
    gone: new Set(),
    attempts: new Map(),
    repository: { id: 1001, full_name: 'railway/signals', updated_at: forgeTime(0) },
  };
  const history: MessageParts[] = [];
  const add = ({ event, payload }: Pick<MessageParts, 'event' | 'payload'>, delay: number) =>
    history.push({
      event,
      payload: { ...Object(payload), repository: world.repository, sender: { id: 7, login: world.login } },
      deliveryId: `d-${world.step}`,
      receivedAt: new Date(at(world.second + delay).getTime() + world.step),
    });
  for (const step of steps) {
    world.step += 1;
    world.second += step.pause;
    const kind: Kind = kinds[step.kind];
    const happened = kind(world, step);
    if (happened) add(happened, step.delay);
  }
  world.step += 1;
  if (isDeletedAtEnd) add({ event: 'repository', payload: { action: 'deleted' } }, 0);
  return history;
}

const Steps = fc.array(
  fc.record({
    kind: fc.constantFrom(...(Object.keys(kinds) as Step['kind'][])),
    choice: fc.nat(20),
    which: fc.integer({ min: 1, max: 2 }),
    // Whole seconds, as forges write them: several things happen within one.
    pause: fc.constantFrom(0, 0, 1, 7),
    delay: fc.constantFrom(0, 0, 0, 3, 60),
  }),
  { minLength: 5, maxLength: 40 },
);

describe('the database-service worker, on histories in any order', function () {
  this.timeout(240_000);
  let database: IntakeDatabase;
  before(async () => (database = await createIntakeDatabase()));
  after(() => database.close());

  // How far a row is processed depends on what came when; with it, of what any event mentions, the delivery of its last change.
  const columns = (isMentioned = false) =>
    ['id', 'processing_state', 'claimed_until', ...(isMentioned ? ['delivery_id'] : [])].reduce((row, column) => `${row} - '${column}'`, 'to_jsonb(t)');
  async function stateAfter(batches: readonly (readonly MessageParts[])[]) {
    await database.empty();
    const handle = createDatabaseServiceWorker({ database: database.pool, isOwn: () => true, metrics: createMetrics(), log: silentLog });
    for (const batch of batches) expect((await handle(batch.map(delivery))).every((outcome) => outcome === 'ack')).to.equal(true);
    const states = allTables.map(
      async ({ name, isMentioned }) => [name, await database.rows(`select ${columns(isMentioned)} as row from ${name} t order by object_key`)] as const,
    );
    return Object.fromEntries(await Promise.all(states));
  }

  it('leads to the one state that the true order leads to', async () => {
    const Case = fc.tuple(Steps, fc.boolean(), fc.integer({ min: 1, max: 15 }), fc.infiniteStream(fc.nat()));
    await fc.assert(
      fc.asyncProperty(Case, async ([steps, isDeletedAtEnd, size, random]) => {
        const history = historyOf(steps, isDeletedAtEnd);
        const numbers = [...random.take(4 * history.length + 1)];
        const repeated = history.filter((_, index) => (numbers[index] ?? 0) % 3 === 0);
        const shuffled = [...history, ...repeated]
          .map((one, index) => ({ one, rank: numbers[history.length + index] ?? 0 }))
          .sort((one, other) => one.rank - other.rank)
          .map(({ one }) => one);
        const batches = Array.from({ length: Math.ceil(shuffled.length / size) }, (_, index) => shuffled.slice(index * size, (index + 1) * size));
        const expected = await stateAfter(history.map((one) => [one]));
        expect(await stateAfter(batches)).to.deep.equal(expected);
      }),
      { numRuns: 25 },
    );
  });
});
