// A pool whose questions are measured: Postgres tells the plan of each with its answer.
import pg from 'pg';
import { z } from 'zod';
import { silentLog } from '../../../../services/platform/log.ts';
import { createPool, type Pool } from '../../../../services/platform/postgres/pool.ts';

type Node = { readonly type: string; readonly read: number; readonly parts: readonly Node[] };
const Node: z.ZodType<Node> = z.lazy(() =>
  z
    .looseObject({
      'Node Type': z.string(),
      'Actual Rows': z.number(),
      'Actual Loops': z.number(),
      'Rows Removed by Filter': z.number().default(0),
      Plans: z.array(Node).default([]),
    })
    .transform((node) => ({
      type: node['Node Type'],
      read: Math.round((node['Actual Rows'] + node['Rows Removed by Filter']) * node['Actual Loops']),
      parts: node.Plans,
    })),
);
const Told = z.object({ Plan: Node.and(z.looseObject({ 'Shared Hit Blocks': z.number(), 'Shared Read Blocks': z.number() })) });

/** All questions since it was cleared: the rows that scans of tables and indexes read, and the pages of the database that were touched. */
export type Cost = { rows: number; pages: number };

export type Plans = {
  readonly database: Pool;
  readonly cost: Cost;
  clear(): void;
};

/** `auto_explain` sends each plan as a notice, before the answer has ended: to ask for it would be to read everything twice. */
const telling = {
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_buffers': 'on',
  'auto_explain.log_timing': 'off',
  'auto_explain.log_format': 'json',
  client_min_messages: 'log',
  log_min_messages: 'panic',
};

/** Changes the database, for all connections that are opened from now on. */
export async function explaining(url: string, schema: string): Promise<Plans> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const [setting, value] of Object.entries(telling)) await client.query(`alter database ${new URL(url).pathname.slice(1)} set ${setting} = '${value}'`);
  await client.end();
  const database = createPool(url, { schema, log: silentLog });
  const cost: Cost = { rows: 0, pages: 0 };
  const readBy = ({ type, read, parts }: Node): number => (type.endsWith('Scan') ? read : 0) + parts.reduce((sum, part) => sum + readBy(part), 0);
  database.driver.on('connect', (client) => {
    client.on('notice', ({ message = '' }) => {
      const told = /^duration: .* plan:\n(.*)$/s.exec(message)?.[1];
      if (told === undefined) return;
      const { Plan } = Told.parse(JSON.parse(told));
      cost.rows += readBy(Plan);
      cost.pages += Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks'];
    });
  });
  return { database, cost, clear: () => void Object.assign(cost, { rows: 0, pages: 0 }) };
}
