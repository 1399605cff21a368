// Polls of the change feed, as tests make them.
import { expect } from 'chai';
import { adminToken, type Answer, call, member } from '../service.ts';

export type Told = { readonly cursor: string; readonly changes: readonly Readonly<Record<string, unknown>>[] };

export const poll = (url: string, after?: string): Promise<Answer> =>
  call(url, {
    path: `/api/management/changes${after === undefined ? '' : `?after=${encodeURIComponent(after)}`}`,
    headers: { Authorization: `Bearer ${adminToken}` },
  });

export async function told(answer: Promise<Answer>): Promise<Told> {
  const got = await answer;
  expect(got.status, got.text).to.equal(200);
  const changes = [member(got, 'changes')].flat().map((change) => Object(change) as Told['changes'][number]);
  return { cursor: String(member(got, 'cursor')), changes };
}

export const begin = async (url: string): Promise<string> => (await told(poll(url))).cursor;

/** Page by page from a cursor on, until `isAll`. */
export async function follow(url: string, from: string, isAll: (changes: Told['changes']) => boolean): Promise<Told> {
  let cursor = from;
  const changes: Told['changes'][number][] = [];
  while (!isAll(changes)) {
    const page = await told(poll(url, cursor));
    cursor = page.cursor;
    changes.push(...page.changes);
  }
  return { cursor, changes };
}

/** `action application/environment/secret or key` of each. */
export const inWords = (changes: Told['changes']): string[] =>
  changes.map(({ action, application, environment, secret, configuration }) =>
    [action, application, environment ?? '*', secret ?? configuration ?? '*'].map(String).join(' '),
  );
