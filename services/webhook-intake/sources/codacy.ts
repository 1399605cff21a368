// Codacy: what the analysis of a commit found. https://docs.codacy.com/repositories-configure/integrations/
import { lineAt, sharedToken, type Source, urlAt } from './source.ts';

const commit = (payload: unknown) => lineAt(payload, 'commit', 'data', 'uuid');
const added = (payload: unknown) => lineAt(payload, 'commit', 'results', 'new_count');
const fixed = (payload: unknown) => lineAt(payload, 'commit', 'results', 'fixed_count');

export const codacy: Source = {
  name: 'codacy',
  vendor: 'Codacy',
  verification: sharedToken,
  example: {
    body: {
      commit: {
        data: { uuid: 'f00dfeedf00dfeedf00dfeedf00dfeedf00dfeed', urls: { delta: 'https://codacy.example/railway/signals/commit?cid=1' } },
        results: { fixed_count: 2, new_count: 0 },
      },
    },
  },
  read: ({ payload }) => ({
    event: 'commit_result',
    key: [commit(payload), added(payload), fixed(payload)],
    isFailure: Number(added(payload) ?? 0) > 0,
  }),
  notice: (payload) => ({
    title: `Codacy: commit ${commit(payload)?.slice(0, 12) ?? 'unknown'}`,
    text: `${added(payload) ?? 0} new issues, ${fixed(payload) ?? 0} fixed`,
    url: urlAt(payload, 'commit', 'data', 'urls', 'delta'),
  }),
};
