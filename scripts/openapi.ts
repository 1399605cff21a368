// The API description of every service, asked of the running services, so that it is what they really serve.
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deployables } from '../services/command/deployables.ts';
import { startEverything } from '../services/laptop/up.ts';
import { silentLog } from '../services/platform/log.ts';
import { createLifecycle } from '../services/platform/process/lifecycle.ts';

/** @returns path in the repository → content */
export async function openapiFiles(): Promise<Record<string, string>> {
  const directory = await mkdtemp(join(tmpdir(), 'signalbox-generate-'));
  await chmod(directory, 0o755); // started by root, Postgres is another user
  const lifecycle = createLifecycle(silentLog);
  try {
    const loaded = await deployables.loadAll();
    // A direct source without a secret has no route.
    const sources = loaded.flatMap(({ settings }) => Object.values(settings).filter(({ name, isSecret }) => isSecret && name.startsWith('Sources__')));
    const environment = Object.fromEntries(sources.map(({ name }) => [name, 'described']));
    const options = { environment, data: directory, portBase: 0, metricsPort: 0, loadMailbox: deployables.loadMailbox, lifecycle, logFor: () => silentLog };
    const { started } = await startEverything(loaded, options);
    const described = started.filter(({ isDescribed }) => isDescribed);
    const files = described.map(async ({ name, url }) => {
      const response = await fetch(`${url}/swagger/v1/swagger.json`);
      if (!response.ok) throw new Error(`${name} fails to describe itself: ${await response.text()}`);
      return [`docs/openapi/${name}.json`, `${JSON.stringify(await response.json(), null, 2)}\n`] as const;
    });
    return Object.fromEntries(await Promise.all(files));
  } finally {
    await lifecycle.stop();
    await rm(directory, { recursive: true, force: true });
  }
}
