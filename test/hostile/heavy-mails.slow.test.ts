// Alert mails that cost far more to parse than they have bytes, against the listing triage service in the memory of the chart.
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { alertMail } from '../services/listings/mails/alert-mails.ts';
import { mebibyte } from '../support/usage.ts';
import { type House, startHouse } from './house.ts';

const head = () => `Message-ID: <${randomUUID()}@example.org>\r\nMIME-Version: 1.0\r\n`;
const html = (body: string) => Buffer.from(`${head()}Content-Type: text/html\r\n\r\n${body}`);
const parts = (body: string) => Buffer.from(`${head()}Content-Type: multipart/mixed; boundary=b\r\n\r\n${body}`);

const heavy: Readonly<Record<string, () => Buffer>> = {
  'of 9 MB of empty parts': () => parts('--b\r\n\r\n'.repeat(1_300_000)),
  'of three million lines': () => html('a\r\n'.repeat(3_000_000)),
  'of 150 000 lines': () => html('a\r\n'.repeat(150_000)),
  'of 140 000 long lines': () => html(`${'a'.repeat(72)}\r\n`.repeat(140_000)),
  'of elements in each other': () => html('<div><a href=x>'.repeat(130_000)),
  'of 10 MB of base64': () => Buffer.from(`${head()}Content-Type: text/html\r\nContent-Transfer-Encoding: base64\r\n\r\n${'QUFB'.repeat(2_600_000)}`),
  'of one line': () => html('<'.repeat(10_000_000)),
  'of flowed text': () => Buffer.from(`${head()}Content-Type: text/plain; format=flowed; delsp=yes\r\n\r\n${'> > x \r\n'.repeat(240_000)}`),
  'of headers without end': () => Buffer.from(head() + 'X: y\r\n'.repeat(1_700_000)),
};

describe('a mail that is heavy once parsed', function () {
  this.timeout(240_000);
  let house: House;
  before(async () => (house = await startHouse({ services: ['listings'] })));
  after(() => house.close());

  async function send(body: Buffer) {
    const { Listings__AccessTokens: token = '' } = house.settings;
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'message/rfc822' };
    const answer = await fetch(`http://127.0.0.1:${house.service('listings').port}/api/ingest/email`, { method: 'POST', headers, body });
    const { outcome = `status ${answer.status}` } = Object(await answer.json()) as { outcome?: string };
    return outcome;
  }

  for (const [what, make] of Object.entries(heavy)) {
    it(`${what} is refused or ignored, and the next one is taken`, async () => {
      const body = make();
      expect(body.length).to.be.below(10 * mebibyte + 1);
      expect(await send(body)).to.be.oneOf(['failed', 'ignored']);
      expect(await send(alertMail())).to.be.oneOf(['created', 'updated']);
    });
  }

  it('ten at once end neither the service nor its readiness', async () => {
    // A mail that is answered 503 before it was read is cut off.
    const sent = Array.from({ length: 10 }, () => send(html('a\r\n'.repeat(3_000_000))).catch(() => 'cut off'));
    for (const outcome of await Promise.all(sent)) expect(outcome).to.be.oneOf(['failed', 'status 503', 'cut off']);
    const { port, process } = house.service('listings');
    expect((await fetch(`http://127.0.0.1:${port}/health/ready`)).status).to.equal(200);
    expect(await send(alertMail())).to.be.oneOf(['created', 'updated']);
    expect(process.lines.filter((line) => line.includes('"level":"error"'))).to.deep.equal([]);
  });
});
