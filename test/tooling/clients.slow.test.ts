// Clients that are generated from the API descriptions: they compile, and read the first page of a real service.
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import openapiTypes, { astToString } from 'openapi-typescript';
import { temporaryDirectory } from '../support/guard.ts';
import { describeWith } from '../support/need.ts';
import { runTool, toolPath } from '../support/tools.ts';
import { createDashboard, type Dashboard, tokens } from '../services/webhook-intake/dashboard/ground.ts';

const root = join(import.meta.dirname, '../..');
const descriptions = join(root, 'docs/openapi');
const services = readdirSync(descriptions).map((file) => file.replace(/\.json$/, ''));
const run = promisify(execFile);

const generator = toolPath('openapi-python-client');
const pythonGenerator = {
  name: 'Python client',
  missing: generator.includes('/') ? undefined : 'no openapi-python-client on PATH: pip install openapi-python-client==0.29.1',
};

const typescriptProgram = `
import createClient from 'openapi-fetch';
import type { components, paths } from './webhook-intake.ts';

const [baseUrl = '', token = ''] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl, headers: { Authorization: \`token \${token}\` } });
const { data, error } = await client.GET('/api/v1/events', { params: { query: { limit: 2 } } });
if (!data) throw new Error(error.title);
const events: components['schemas']['Event'][] = data.items;
process.stdout.write(JSON.stringify(events.map(({ event, deliveryId, score }) => [event, deliveryId, typeof score])));
`;

/** All in one process: most of the time it imports itself. */
const pythonGeneration = `
import sys
from openapi_python_client.cli import app

for description, output in zip(sys.argv[1::2], sys.argv[2::2]):
    code = app(["generate", "--meta", "none", "--path", description, "--output-path", output], standalone_mode=False)
    assert not code, description
`;

const pythonProgram = `
import json, sys
from webhook_intake_client import AuthenticatedClient
from webhook_intake_client.api.events import list_events
from webhook_intake_client.models import FollowedEventPage

client = AuthenticatedClient(base_url=sys.argv[1], token=sys.argv[2], prefix="token")
page = list_events.sync(client=client, limit=2)
assert isinstance(page, FollowedEventPage), page
print(json.dumps([[item.event, item.delivery_id, type(item.received_at).__name__] for item in page.items]))
`;

const delivered = (event: string, index: number) => ({
  event,
  payload: { repository: { full_name: 'me/mine' } },
  deliveryId: `d${index}`,
  receivedAt: new Date(Date.UTC(2026, 2, 15, 12, index)),
});

describe('clients that are generated from the API descriptions', () => {
  let dashboard: Dashboard;
  let folder: string;
  before(async () => {
    dashboard = await createDashboard();
    await dashboard.deliver(['push', 'issues', 'push'].map((event, index) => delivered(event, index)));
    folder = temporaryDirectory('clients');
  });
  after(() => dashboard.close());

  it('compile as TypeScript, for every service, and read the first page', async () => {
    const project = join(folder, 'typescript');
    mkdirSync(project);
    symlinkSync(join(root, 'node_modules'), join(project, 'node_modules'));
    for (const service of services) {
      const types = await openapiTypes(new URL(`../../docs/openapi/${service}.json`, import.meta.url));
      writeFileSync(join(project, `${service}.ts`), astToString(types));
    }
    writeFileSync(join(project, 'read.ts'), typescriptProgram);
    const options = {
      extends: join(root, 'tsconfig.json'),
      compilerOptions: { noEmit: true, typeRoots: [join(root, 'node_modules/@types')] },
      include: ['*.ts'],
    };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(options));
    writeFileSync(join(project, 'package.json'), '{"type":"module"}');
    const { stdout: faults } = await runTool(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '--project', project]);
    expect(faults).to.equal('');
    const { stdout } = await run(process.execPath, [join(project, 'read.ts'), dashboard.url, tokens[0]]);
    expect(JSON.parse(stdout)).to.deep.equal([
      ['push', 'd2', 'number'],
      ['issues', 'd1', 'number'],
    ]);
  });

  describeWith(pythonGenerator, 'in Python', () => {
    /** In Swagger UI and curl these can be tried, but the generator knows neither feeds, mails, pages, lines nor settings. */
    const unknownBodies = [
      'GET /api/feed',
      'POST /api/import',
      'POST /api/ingest/email',
      'POST /api/ingest/email',
      'POST /api/ingest/properties',
      'POST /api/management/applications/{slug}/environments/{envSlug}/import',
    ];

    it('are made of every description, compile, and read the first page', async () => {
      const project = join(folder, 'python');
      mkdirSync(project);
      // It is a script of an environment of its own, with what clients import.
      const python = join(dirname(realpathSync(generator)), 'python3');
      const parameters = services.flatMap((service) => [join(descriptions, `${service}.json`), join(project, `${service.replaceAll('-', '_')}_client`)]);
      const { stdout: told, stderr: warned } = await run(python, ['-c', pythonGeneration, ...parameters]);
      expect([...`${told}${warned}`.matchAll(/parsing (\w+ \S+) within/g)].map(([, operation]) => operation).sort()).to.deep.equal(unknownBodies);
      await run(python, ['-m', 'compileall', '-q', project]);
      writeFileSync(join(project, 'read.py'), pythonProgram);
      const { stdout } = await run(python, [join(project, 'read.py'), dashboard.url, tokens[0]]);
      expect(JSON.parse(stdout)).to.deep.equal([
        ['push', 'd2', 'datetime'],
        ['issues', 'd1', 'datetime'],
      ]);
    });
  });
});
