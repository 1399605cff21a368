// Fuzzes the import of bookmarks by whole files, for as long as wanted.
import { apiKey, call, migrations, startService } from '../../services/bookmarks/service.ts';
import { faultOf, fuzzedFiles } from '../../services/bookmarks/files/file-fuzzer.ts';
import { createTestDatabase } from '../../support/postgres.ts';

const filesAtOnce = 500;

/** @returns a text for each file of which a bookmark was lost: its fault, its mutations and the file */
export async function fuzzFiles({ files, seed }: { readonly files: number; readonly seed: number }): Promise<string[]> {
  const database = await createTestDatabase({ schema: 'bookmarks', migrations });
  const service = await startService({ databaseUrl: database.url });
  const take = (body: Buffer) => call(service.url, 'POST', '/api/import?dryRun=true', { body, headers: { 'Content-Type': 'text/html', 'X-Api-Key': apiKey } });
  const findings: string[] = [];
  try {
    for (let done = 0; done < files; done += filesAtOnce)
      for (const file of fuzzedFiles(seed + done, Math.min(filesAtOnce, files - done))) {
        const fault = await faultOf(file, take);
        if (fault !== undefined) findings.push(`${fault}\n${file.mutations.join(', ')}\n${file.text}`);
      }
    return findings;
  } finally {
    await service.close();
    await database.drop();
  }
}
