// Answers of pods that say they are relays.
import { createServer } from 'node:http';
import { expect } from 'chai';
import { listConnections } from '../../../services/operator/broker-connections/relays.ts';
import { freePort } from '../../support/wait.ts';

describe('listConnections', () => {
  it('reads 1 MiB of an answer at most', async () => {
    let sent = 0;
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const endless = createServer((_request, answer) => {
      const send = () => {
        while (!answer.destroyed && answer.write(chunk)) sent += chunk.length;
      };
      answer.on('drain', send).on('error', () => undefined);
      send();
    });
    const port = await freePort();
    await new Promise<void>((resolve) => endless.listen(port, '127.0.0.1', resolve));
    try {
      const answer = await listConnections(`http://127.0.0.1:${port}`, { token: 'token', signal: new AbortController().signal });
      expect(answer).to.have.property('fault').that.includes('more than 1048576 bytes');
      expect(sent).to.be.below(32 * 1024 * 1024);
    } finally {
      endless.closeAllConnections();
      endless.close();
    }
  });
});
