// Docker Hub: images that were pushed. https://docs.docker.com/docker-hub/repos/manage/webhooks/
import { lineAt, sharedToken, type Source, urlAt } from './source.ts';

const image = (payload: unknown) => lineAt(payload, 'repository', 'repo_name');
const tag = (payload: unknown) => lineAt(payload, 'push_data', 'tag');

export const dockerhub: Source = {
  name: 'dockerhub',
  vendor: 'Docker Hub',
  verification: sharedToken,
  example: {
    body: {
      callback_url: 'https://hub.example/u/railway/signals/hook/1/',
      push_data: { pushed_at: 1767225600, pusher: 'stationmaster', tag: 'v2', images: [] },
      repository: { repo_name: 'railway/signals', name: 'signals', namespace: 'railway', repo_url: 'https://hub.example/r/railway/signals', status: 'Active' },
    },
  },
  read: ({ payload }) => ({
    event: 'push',
    repository: image(payload),
    key: [lineAt(payload, 'push_data', 'pushed_at'), tag(payload), image(payload)],
    isFailure: false,
  }),
  // `callback_url` is neither called nor shown: a holder of the token could direct requests from here to any address.
  notice: (payload) => ({
    title: `Docker Hub: ${image(payload) ?? 'image'}:${tag(payload) ?? 'unknown'} pushed`,
    text: `By ${lineAt(payload, 'push_data', 'pusher') ?? 'unknown'}`,
    url: urlAt(payload, 'repository', 'repo_url'),
  }),
};
