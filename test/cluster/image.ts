// The image under test: built from this working copy, under two tags, and made known to the cluster's nodes.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runTool } from '../support/tools.ts';
import { say, step } from './say.ts';

const root = join(import.meta.dirname, '../..');
const loader = join(root, '../shared/tools/cluster');

/** Whoever loads by those tools reaches no registry, and has the base that they make. */
const base: Readonly<Record<string, string>> =
  process.env['TEST_IMAGE_LOADER'] === undefined && existsSync(loader) ? { NODE_IMAGE: process.env['NODE_IMAGE'] ?? 'docker.io/library/node:24-slim' } : {};

/** An upgrade goes from the first to the second, a rollback back. */
export type Tags = { readonly first: string; readonly second: string };

/**
 * Builds and loads unless the image is said to be there.
 * @param present a tag that the cluster has already, and has as `<tag>-next`, too
 */
export async function provideImage(present: string | undefined): Promise<Tags> {
  if (present !== undefined) return { first: present, second: `${present}-next` };
  const tag = `test-${Date.now().toString(36)}`;
  const tags = { first: tag, second: `${tag}-next` };
  // What differs between releases is tried by the tests of migrations: here it is that pods are replaced.
  for (const each of [tags.first, tags.second]) {
    await step(`building docker.io/library/signalbox:${each}`, () => must(join(root, 'scripts/image.sh'), [`docker.io/library/signalbox:${each}`], base));
  }
  await step('loading both tags into the cluster', () => load([tags.first, tags.second].map((each) => `docker.io/library/signalbox:${each}`)));
  say(`again with this image: npm run test:cluster -- --image ${tag}`);
  return tags;
}

async function load(images: readonly string[]): Promise<void> {
  const command = process.env['TEST_IMAGE_LOADER'];
  if (command !== undefined) {
    for (const image of images) await must('sh', ['-c', `${command} "$0"`, image]);
  } else if (existsSync(loader)) await must(loader, ['load', ...images]);
  else throw new Error("TEST_IMAGE_LOADER must say how an image comes to the cluster, such as 'kind load docker-image'");
}

async function must(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<void> {
  const { code, stdout, stderr } = await runTool(program, args, { env, withinMs: 900_000 });
  if (code !== 0) throw new Error(`${program} ${args.join(' ')}:\n${(stdout + stderr).slice(-3000)}`);
}
