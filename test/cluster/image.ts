// Builds the image under test from this working copy under two tags and loads it into the cluster.
import { join } from 'node:path';
import { cluster, isLocal, must, root } from './local-cluster.ts';
import { say, step } from './say.ts';

/** A command of the caller's that brings an image to the nodes. */
const loader = process.env['TEST_IMAGE_LOADER'];

/** The cluster of this machine is for those who reach no registry: `scripts/tools/image` has built the base for them. */
const base: Readonly<Record<string, string>> = isLocal ? { NODE_IMAGE: process.env['NODE_IMAGE'] ?? 'docker.io/library/node:24-slim' } : {};

/** An upgrade goes from `first` to `second`, a rollback from `second` to `first`. */
export type Tags = { readonly first: string; readonly second: string };

/**
 * Builds and loads both tags, unless the cluster has them.
 * @param present a tag that the cluster has, together with `<tag>-next`
 */
export async function provideImage(present: string | undefined): Promise<Tags> {
  if (present !== undefined) return { first: present, second: `${present}-next` };
  const tag = `test-${Date.now().toString(36)}`;
  const tags = { first: tag, second: `${tag}-next` };
  // Both tags are the same build: what differs between releases is tested with the migrations, here pods are replaced.
  for (const each of [tags.first, tags.second]) {
    await step(`building docker.io/library/signalbox:${each}`, () => must(join(root, 'scripts/image.sh'), [`docker.io/library/signalbox:${each}`], base));
  }
  await step('loading both tags into the cluster', () => load([tags.first, tags.second].map((each) => `docker.io/library/signalbox:${each}`)));
  say(`again with this image: npm run test:cluster -- --image ${tag}`);
  return tags;
}

async function load(images: readonly string[]): Promise<void> {
  if (loader !== undefined) {
    for (const image of images) await must('sh', ['-c', `${loader} "$0"`, image]);
  } else if (isLocal) await cluster('load', ...images);
  else throw new Error("TEST_IMAGE_LOADER must say how an image comes to the cluster, such as 'kind load docker-image'");
}
