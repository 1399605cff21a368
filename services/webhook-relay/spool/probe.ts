// Whether the spool can be written, found out by writing.
import { randomUUID } from 'node:crypto';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { CheckResult } from '../../platform/http/health.ts';
import { writeDurably } from './durable-write.ts';
import type { ProcessFolder } from './process-folder.ts';

/** An answer holds that long, so that probes of a load balancer do not become load on the disk. */
const holdsMs = 2000;

export type ProbeParts = { readonly directory: string; readonly folder: ProcessFolder; readonly clock: () => Date };

export function createProbe({ directory, folder, clock }: ProbeParts): () => Promise<CheckResult> {
  let asked: { readonly at: number; readonly answer: Promise<CheckResult> } | undefined;
  return () => {
    const now = clock().getTime();
    if (!asked || now - asked.at >= holdsMs) asked = { at: now, answer: probe(directory, folder) };
    return asked.answer;
  };
}

async function probe(directory: string, folder: ProcessFolder): Promise<CheckResult> {
  const path = folder.path(`${randomUUID()}.tmp`);
  try {
    await folder.withTimeout(() => writeDurably(path, [Buffer.alloc(4096)])); // a block: an empty file fits on a full disk
    // As a delivery is: from the folder of the process into the spool. One name for all, so that a crash leaves one at most.
    const moved = join(directory, 'probe.tmp');
    await rename(path, moved);
    await rm(moved, { force: true }); // another process may have been faster
    return { ok: true };
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : 'failed'; // the message would tell the path
    await rm(path, { force: true }).catch(() => undefined); // taken over with the folder, if it is there at all
    return { ok: false, detail: `the spool cannot be written: ${why}` };
  }
}
