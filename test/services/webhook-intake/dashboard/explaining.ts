// A database that asks each question for its plan and cost, too.
import type pg from 'pg';
import { z } from 'zod';
import type { Database } from '../../../../services/platform/postgres/pool.ts';
import { questionsTo } from '../../../../services/platform/postgres/pool.ts';

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
const Buffers = z.looseObject({ 'Shared Hit Blocks': z.number(), 'Shared Read Blocks': z.number() });
const Explained = z.tuple([z.looseObject({ 'QUERY PLAN': z.tuple([z.looseObject({ Plan: Node.and(Buffers) })]) })]);

/** All questions since it was cleared: the rows that scans of tables and indexes read, and the pages of the database that were touched. */
export type Cost = { rows: number; pages: number };

export type Plans = {
  readonly database: Database;
  readonly cost: Cost;
  clear(): void;
};

export function explaining(driver: pg.Pool): Plans {
  const cost: Cost = { rows: 0, pages: 0 };
  const readBy = ({ type, read, parts }: Node): number => (type.endsWith('Scan') ? read : 0) + parts.reduce((sum, part) => sum + readBy(part), 0);
  const explain = async (text: string, values: readonly unknown[]) => {
    const { rows } = await driver.query(`explain (analyze, buffers, timing off, format json) ${text}`, [...values]);
    const { Plan } = Explained.parse(rows)[0]['QUERY PLAN'][0];
    cost.rows += readBy(Plan);
    cost.pages += Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks'];
  };
  const refuse = () => Promise.reject(new TypeError('no part of a reader'));
  const asked = { ...questionsTo(driver), transaction: refuse, whileLocked: refuse };
  return {
    cost,
    clear: () => void Object.assign(cost, { rows: 0, pages: 0 }),
    database: {
      ...asked,
      async all(question, ...values) {
        await explain(question.text, values);
        return asked.all(question, ...values);
      },
      async first(question, ...values) {
        await explain(question.text, values);
        return asked.first(question, ...values);
      },
      async select<Row>(query: Parameters<Database['select']>[0]) {
        const { sql, bindings } = query.toSQL().toNative();
        await explain(sql, bindings);
        return asked.select<Row>(query);
      },
    },
  };
}
