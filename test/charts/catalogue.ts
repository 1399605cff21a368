// files/services.yaml: what the chart knows of the code of each service.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { chart } from './chart.ts';

type Facts = {
  readonly credentials?: readonly string[];
  readonly optionalCredentials?: readonly string[];
  readonly broker?: string;
  readonly events?: boolean;
};
type ServiceFacts = Facts & {
  readonly schema?: string;
  readonly brokerUser?: string;
  readonly redis?: boolean;
  readonly spool?: boolean;
  readonly reaches?: Readonly<Record<string, string>>;
  readonly notificationRules?: boolean;
  readonly sources?: boolean;
  readonly workers?: Readonly<Record<string, Facts>>;
};

export const readCatalogue = async (): Promise<Readonly<Record<string, ServiceFacts>>> => parse(await readFile(join(chart, 'files/services.yaml'), 'utf8'));

/** Component → facts: services, and their workers with the schema and the broker's user of theirs. */
export async function readComponents(): Promise<ReadonlyMap<string, ServiceFacts>> {
  return new Map(
    Object.entries(await readCatalogue()).flatMap(([name, { workers = {}, ...facts }]): [string, ServiceFacts][] => {
      const { schema = '', brokerUser = '' } = facts;
      return [[name, facts], ...Object.entries(workers).map(([worker, own]): [string, ServiceFacts] => [`${name}-${worker}`, { schema, brokerUser, ...own }])];
    }),
  );
}
