// The spool: deliveries that could not be published, one file each, until they are replayed.
import type { CheckResult } from '../../platform/http/health.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { type Claims, createClaims } from './claims.ts';
import { parseFileName, type SpoolFile } from './file-name.ts';
import { createProbe } from './probe.ts';
import { createProcessFolder, namesIn, silentAfterMs } from './process-folder.ts';
import { createRefusedFolder, type RefusedFolder } from './refused-folder.ts';
import { measureSpool } from '../metrics.ts';
import { createSpoolWriter, type SpoolWriter } from './spool-writer.ts';

export type Spool = SpoolWriter &
  Claims & {
    /** For readiness: writes a file to find out. */
    isWritable(): Promise<CheckResult>;
    /** Oldest first; names only. */
    pending(): Promise<SpoolFile[]>;
    /** What was given up. */
    readonly refused: RefusedFolder;
    /** Makes pending again what processes that died, that is, have been silent for so long, had in hand. */
    takeOver(silentMs?: number): Promise<void>;
    close(): Promise<void>;
  };

export type SpoolParts = { readonly directory: string; readonly log: Log; readonly clock: () => Date; readonly metrics: Metrics };

export function createSpool({ directory, log, clock, metrics }: SpoolParts): Spool {
  const folder = createProcessFolder(directory, clock);
  const refused = createRefusedFolder(directory);
  const pending = async () => toFiles(await namesIn(directory));
  const outstanding = async () => toFiles([...(await namesIn(directory)), ...(await folder.inHand())]);
  const count = measureSpool(metrics, { outstanding, refused: refused.count }, clock);

  return {
    ...createSpoolWriter({ directory, folder, count, log, clock }),
    ...createClaims({ directory, folder, refused, count, log }),
    isWritable: createProbe({ directory, folder, clock }),
    pending,
    refused,
    async takeOver(silentMs = silentAfterMs) {
      const files = await folder.takeOver(silentMs);
      if (files > 0) log.warn({ files }, 'spool files of a process that ended are taken over');
    },
    close: () => folder.close(),
  };
}

function toFiles(names: readonly string[]): SpoolFile[] {
  return names
    .toSorted()
    .map(parseFileName)
    .filter((file) => file !== undefined);
}
