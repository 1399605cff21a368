// The script of `helm test`, against a server that records what it sends.
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { freePort } from '../support/wait.ts';

const script = join(import.meta.dirname, '../../charts/signalbox/files/tests/deliver.mjs');

describe('helm test', () => {
  it('sends other bytes each time: equal ones would be a duplicate, which is never in the event log', async () => {
    const bodies = new Set<string>();
    const ids: string[] = [];
    const server = createServer((call, answer) => {
      void (async () => {
        if (call.method === 'POST') {
          bodies.add(await text(call));
          ids.push(String(call.headers['x-forge-delivery']));
        }
        const items = ids.map((deliveryId) => ({ id: deliveryId, deliveryId }));
        answer.writeHead(call.method === 'POST' ? 202 : 200, { 'content-type': 'application/json' }).end(JSON.stringify({ id: 'x', items }));
      })();
    });
    const port = await freePort();
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${port}`;
    const env = { RELAY_URL: url, INTAKE_URL: url, Forge__WebhookSecrets: 'a secret', Intake__AccessTokens: 'a token', TIMEOUT_SECONDS: '5' };
    for (let n = 0; n < 2; n++) await promisify(execFile)(process.execPath, [script], { env });
    server.close();
    server.closeAllConnections();
    expect(bodies.size).to.equal(2);
  });
});
