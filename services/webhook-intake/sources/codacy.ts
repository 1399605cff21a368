// Codacy: what the analysis of a commit found. https://docs.codacy.com/organizations/integrations/webhooks/
// Codacy Cloud sends events with a signature; a Codacy of one's own sends the result of a commit, with the token in the URL.
import { lineAt, signatureOrToken, type Source, urlAt } from './source.ts';

const result = (payload: unknown) => ({
  commit: lineAt(payload, 'commit', 'data', 'uuid'),
  added: lineAt(payload, 'commit', 'results', 'new_count'),
  fixed: lineAt(payload, 'commit', 'results', 'fixed_count'),
});
const isResult = (payload: unknown) => lineAt(payload, 'event') === undefined;
const status = (payload: unknown) => lineAt(payload, 'status');

export const codacy: Source = {
  name: 'codacy',
  vendor: 'Codacy',
  verification: signatureOrToken('X-Codacy-Signature', { prefix: 'sha256=' }),
  headers: { 'X-Codacy-Event': 'The kind of the event', 'X-Codacy-Delivery': 'The id of the delivery' },
  example: {
    headers: { 'X-Codacy-Event': 'commit.analyzed', 'X-Codacy-Delivery': '7d9f2a60-5b43-4e7c-9d54-1a2b3c4d5e6f' },
    body: {
      event: 'commit.analyzed',
      repository: { name: 'railway/signals' },
      target: 'main',
      commitSha: 'f00dfeedf00dfeedf00dfeedf00dfeedf00dfeed',
      status: 'failed',
    },
  },
  read({ payload, header }) {
    if (!isResult(payload)) {
      const repository = lineAt(payload, 'repository', 'name');
      const event = header('X-Codacy-Event') ?? lineAt(payload, 'event');
      const key = { key: [header('X-Codacy-Delivery')], isKeyUnsigned: true } as const;
      return { event, action: status(payload), repository, ...key, isFailure: /fail|error/i.test(status(payload) ?? '') };
    }
    const { commit, added, fixed } = result(payload);
    return { event: 'commit_result', key: [commit, added, fixed], isFailure: Number(added ?? 0) > 0 };
  },
  notice(payload) {
    if (!isResult(payload))
      return {
        title: `Codacy: ${[lineAt(payload, 'event'), lineAt(payload, 'repository', 'name'), status(payload)].filter(Boolean).join(' ')}`,
        text: [lineAt(payload, 'target'), lineAt(payload, 'commitSha')?.slice(0, 12)].filter(Boolean).join(', '),
        url: null,
      };
    const { commit, added, fixed } = result(payload);
    return {
      title: `Codacy: commit ${commit?.slice(0, 12) ?? 'unknown'}`,
      text: `${added ?? 0} new issues, ${fixed ?? 0} fixed`,
      url: urlAt(payload, 'commit', 'data', 'urls', 'delta'),
    };
  },
};
