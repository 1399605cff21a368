// The cost of each described route of the dashboard, with each filter and each two of them, on a table ten times as large.
import { expect } from 'chai';
import request from 'supertest';
import { z } from 'zod';
import { createHealth } from '../../../../services/platform/health.ts';
import { listen } from '../../../../services/platform/http/server.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { createMetrics } from '../../../../services/platform/metrics.ts';
import { createIntakeApp } from '../../../../services/webhook-intake/app.ts';
import { createIntakeDatabase, schema } from '../intake-database.ts';
import { createTestWorkers } from '../jobs/test-workers.ts';
import { type Cost, explaining } from './explaining.ts';
import { days, fill, firstDay, numbers, texts } from './filling.ts';
import { createTokenHolder, tokens } from './ground.ts';

const rows = 10_000;
/** Beyond what the smaller one costs: indexes that are a level deeper. In a larger table rows are further apart: each may be on a page of its own. */
const allowed: Cost = { rows: 100, pages: 150 };

const Parameter = z.looseObject({
  name: z.string(),
  in: z.string(),
  schema: z.looseObject({ enum: z.array(z.string()).optional(), type: z.unknown().optional(), format: z.string().optional(), $ref: z.string().optional() }),
});
const Described = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), z.looseObject({ parameters: z.array(Parameter).default([]) }))),
  components: z.looseObject({ schemas: z.record(z.string(), z.looseObject({ enum: z.array(z.string()).optional() })) }),
});
type Parameter = z.output<typeof Parameter>;
type Query = Readonly<Record<string, string>>;

/** Each looks at the newest 20 000 rows that pass its other filters, in a small table at all of them. Postgres may read every page of this table. */
const mostPages = 5000;
const looksFar = (path: string, query: Query) => 'q' in query || path.endsWith('/facets') || path.endsWith('/series');

/** The dead letters are on brokers, and the events have no payloads. */
const notAsked = ['/api/v1/dead-letters', '/api/v1/dead-letters/{messageId}', '/api/v1/events/{id}/payload'];

/** Two lists of the two kinds; the others are paged by the same code. */
const pagedThrough = ['/api/v1/events', '/api/v1/issues'];

const inDays = (count: number) => new Date(firstDay.getTime() + count * 86_400_000).toISOString();
/** Always given where there are no pages: as much is answered as the span is long. */
const span = { from: inDays(days - 20), to: inDays(days - 17) };

/** Values of one filter that are frequent, rare, not there. */
const valuesOf = ({ name, schema }: Parameter): readonly string[] => {
  if (schema.enum) return schema.enum;
  if (schema.type === 'boolean') return ['true', 'false'];
  if (schema.type === 'integer') return ['2', '10'];
  return name === 'from' || name === 'to' ? [inDays(days / 3), inDays(days)] : Object.values(texts);
};

/** These values of each two filters differ in the rows in which they meet. */
const isPaired = (value: string) => value !== texts.other && value !== texts.absent;

/** None, each, and each two. */
function* queriesOf(parameters: readonly Parameter[]): Generator<Query> {
  const inQuery = parameters.filter((one) => one.in === 'query');
  const isPaged = inQuery.some(({ name }) => name === 'limit');
  const always = isPaged || !inQuery.some(({ name }) => name === 'from') ? {} : span;
  const filters = inQuery.filter(({ name }) => !['limit', 'after', 'before', 'wait', 'payload', ...Object.keys(always)].includes(name));
  yield always;
  for (const filter of filters) for (const value of valuesOf(filter)) yield { ...always, [filter.name]: value };
  for (const [index, filter] of filters.entries())
    for (const other of filters.slice(index + 1))
      for (const value of valuesOf(filter).filter(isPaired))
        for (const second of valuesOf(other).filter(isPaired)) yield { ...always, [filter.name]: value, [other.name]: second };
}

async function createSide(count: number) {
  const intake = await createIntakeDatabase();
  await fill(intake, count);
  const plans = await explaining(intake.url, schema);
  const app = createIntakeApp({
    database: plans.database,
    workers: createTestWorkers(plans.database, []),
    tokenHolder: createTokenHolder(),
    health: createHealth(),
    log: silentLog,
    metrics: createMetrics(),
  });
  const listening = await listen(app.handler, { port: 0, host: '127.0.0.1' });
  const idOf = async (table: string) => (await intake.rows<{ id: string }>(`select id from ${table} order by id limit 1`))[0]?.id ?? '';
  const [owner = '', repo = ''] = texts.past.split('/');
  const [traced] = await intake.rows<{ id: string }>('select delivery_id as id from events order by id limit 1');
  const inPath: Query = { id: await idOf('events'), runId: await idOf('worker_runs'), deliveryId: traced?.id ?? '', owner, repo, n: String(numbers) };
  const side = {
    described: Described.parse(app.openapi()),
    async ask(template: string, query: Query) {
      const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
        encodeURIComponent(inPath[name] ?? expect.fail(`a parameter {${name}} that no test knows`)),
      );
      plans.clear();
      const { status, body } = await request(`http://127.0.0.1:${listening.port}`).get(path).query(query).set('Authorization', `token ${tokens[0]}`);
      // A forge may have no pull request of this number.
      const isFound = !template.endsWith('/{n}') || query['forge'] === undefined;
      expect(isFound ? [200] : [200, 404], `${path} ${JSON.stringify(query)}`).to.include(status);
      return {
        cost: { ...plans.cost },
        body: z.looseObject({ items: z.array(z.looseObject({})).default([]), next: z.string().nullable().default(null) }).parse(body),
      };
    },
    /** Each row of all pages, one after the other. */
    async all(template: string, query: Query): Promise<string[]> {
      const found: string[] = [];
      let after: string | null | undefined;
      while (after !== null) {
        const { items, next } = (await side.ask(template, { ...query, limit: '200', ...(after !== undefined && { after }) })).body;
        found.push(...items.map((item) => JSON.stringify(item)));
        after = next;
      }
      return found;
    },
    async close() {
      await listening.close();
      await plans.database.close();
      await intake.close();
    },
  };
  return side;
}
type Side = Awaited<ReturnType<typeof createSide>>;

const routesOf = ({ described: { paths, components } }: Side) =>
  Object.entries(paths).flatMap(([path, { get }]) => {
    if (!path.startsWith('/api/v1/') || !get || notAsked.includes(path)) return [];
    const parameters = get.parameters.map(({ schema, ...rest }) => ({
      ...rest,
      schema: { ...components.schemas[schema.$ref?.split('/').at(-1) ?? ''], ...schema },
    }));
    return [{ path, parameters }];
  });

describe('the dashboard on a table ten times as large', function () {
  this.timeout(1_800_000);
  let fewest: Side;
  let few: Side;
  let many: Side;
  before(async () => {
    [fewest, few, many] = [await createSide(rows / 4), await createSide(rows), await createSide(10 * rows)];
  });
  after(async () => {
    for (const side of [fewest, few, many]) await side.close();
  });

  it('answers the first page of every route, by every filter and each two, at the same cost', async () => {
    const routes = routesOf(few);
    expect(routes).to.have.length.above(20);
    const dearer: string[] = [];
    let measured = 0;
    for (const { path, parameters } of routes)
      for (const query of queriesOf(parameters)) {
        const [one, ten] = [(await few.ask(path, query)).cost, (await many.ask(path, query)).cost];
        if (one.pages > 0 && ten.pages > 0) measured++;
        if (looksFar(path, query) ? ten.pages > mostPages : ten.rows > one.rows + allowed.rows || ten.pages > Math.max(one.pages, ten.rows) + allowed.pages)
          dearer.push(`${path} ${JSON.stringify(query)}: ${JSON.stringify(one)} → ${JSON.stringify(ten)}`);
      }
    expect(dearer.join('\n')).to.equal('');
    expect(measured).to.be.above(500);
  });

  it('leads through all that two filters leave, each row once and in order, however many pages are short', async () => {
    let compared = 0;
    for (const { path, parameters } of routesOf(fewest).filter((route) => pagedThrough.includes(route.path))) {
      const single = new Map<string, readonly string[]>();
      for (const query of queriesOf(parameters)) {
        const filters = Object.entries(query);
        if (filters.some(([name, value]) => name === 'q' || ([texts.other, texts.rare, texts.absent] as readonly string[]).includes(value))) continue;
        const found = await fewest.all(path, query);
        if (filters.length < 2) {
          expect(new Set(found)).to.have.property('size', found.length);
          single.set(JSON.stringify(query), found);
          continue;
        }
        const [one = [], other = []] = filters.map(
          ([name, value]) => single.get(JSON.stringify({ [name]: value })) ?? expect.fail(`${name} alone was not asked`),
        );
        const both = new Set(other);
        expect(found, `${path} ${JSON.stringify(query)}`).to.deep.equal(one.filter((row) => both.has(row)));
        compared++;
      }
    }
    expect(compared).to.be.above(50);
  });
});
