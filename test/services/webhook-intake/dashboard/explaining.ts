// A database that asks each question for its plan and cost, too.
import type pg from 'pg';
import { z } from 'zod';
import type { Database } from '../../../../services/platform/postgres/pool.ts';
import { questionsTo } from '../../../../services/platform/postgres/pool.ts';

type Node = { readonly type: string; readonly of: string; readonly read: number; readonly parts: readonly Node[] };
const Node: z.ZodType<Node> = z.lazy(() =>
  z
    .looseObject({
      'Node Type': z.string(),
      'Relation Name': z.string().default(''),
      'Actual Rows': z.number(),
      'Actual Loops': z.number(),
      'Rows Removed by Filter': z.number().default(0),
      Plans: z.array(Node).default([]),
    })
    .transform((node) => ({
      type: node['Node Type'],
      of: node['Relation Name'],
      read: Math.round((node['Actual Rows'] + node['Rows Removed by Filter']) * node['Actual Loops']),
      parts: node.Plans,
    })),
);
const Explained = z.tuple([z.looseObject({ 'QUERY PLAN': z.tuple([z.looseObject({ Plan: Node })]) })]);

/** What one scan of a table or index read, over all its repetitions. */
export type Scan = { readonly type: string; readonly of: string; readonly read: number };

export type Plans = {
  readonly database: Database;
  readonly scans: readonly Scan[];
  /** Scans of whole tables that hold anything. */
  sequential(): readonly Scan[];
  mostRead(): number;
  clear(): void;
};

export function explaining(driver: pg.Pool): Plans {
  const scans: Scan[] = [];
  const walk = ({ parts, ...node }: Node): void => {
    if (node.type.endsWith('Scan')) scans.push(node);
    parts.forEach(walk);
  };
  const explain = async (text: string, values: readonly unknown[]) => {
    const { rows } = await driver.query(`explain (analyze, format json) ${text}`, [...values]);
    walk(Explained.parse(rows)[0]['QUERY PLAN'][0].Plan);
  };
  const refuse = () => Promise.reject(new TypeError('no part of a reader'));
  const asked = { ...questionsTo(driver), transaction: refuse, whileLocked: refuse };
  return {
    scans,
    sequential: () => scans.filter(({ type, of, read }) => type === 'Seq Scan' && of !== '' && read > 0),
    mostRead: () => Math.max(0, ...scans.map(({ read }) => read)),
    clear: () => scans.splice(0),
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
