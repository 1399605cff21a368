// Builds the image under test from this working copy under two tags and loads it into the cluster.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { toolsCache } from '../support/programs.ts';
import { runTool } from '../support/tools.ts';
import { say, step } from './say.ts';

const root = join(import.meta.dirname, '../..');
/** How an image comes to the nodes: by a command of the caller's, or by the script that runs the cluster of this machine. */
const loader = process.env['TEST_IMAGE_LOADER'];
const cluster = loader === undefined && existsSync(join(toolsCache, 'run/cluster')) ? join(root, 'scripts/tools/cluster') : undefined;

/** The cluster of this machine is for those who reach no registry: `scripts/tools/image` has built the base for them. */
const base: Readonly<Record<string, string>> = cluster === undefined ? {} : { NODE_IMAGE: process.env['NODE_IMAGE'] ?? 'docker.io/library/node:24-slim' };

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
  } else if (cluster !== undefined) await must(cluster, ['load', ...images]);
  else throw new Error("TEST_IMAGE_LOADER must say how an image comes to the cluster, such as 'kind load docker-image'");
}

async function must(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<void> {
  const { code, stdout, stderr } = await runTool(program, args, { env, withinMs: 900_000 });
  if (code !== 0) throw new Error(`${program} ${args.join(' ')}:\n${(stdout + stderr).slice(-3000)}`);
}
