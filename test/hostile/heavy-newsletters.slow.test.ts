// Mails that cost far more to parse than they have bytes, against the link digest in bounded memory: each has an outcome that
// can be seen, and the service answers meanwhile.
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { newsletterMail } from '../services/link-digest/ingest/mails.ts';
import { mebibyte } from '../support/usage.ts';
import { eventually } from '../support/wait.ts';
import { type House, startHouse } from './house.ts';

const head = () => `Message-ID: <${randomUUID()}@example.org>\r\nMIME-Version: 1.0\r\n`;
const mail = (type: string, body: string) => Buffer.from(`${head()}Content-Type: ${type}\r\n\r\n${body}`);
const multipart = (body: string) => mail('multipart/mixed; boundary=b', body);
const nested = (parts: number) =>
  Array.from({ length: parts }, (_, index) => `--b${index || ''}\r\nContent-Type: multipart/mixed; boundary=b${index + 1}\r\n\r\n`).join('');

/** Why it is refused; undefined for what is read as it is. */
const heavy: Readonly<Record<string, { readonly make: () => Buffer; readonly reason?: RegExp }>> = {
  'of 9 MB of empty parts': { make: () => multipart('--b\r\n\r\n'.repeat(1_350_000)), reason: /2000 lines/ },
  'of 2 MB of flowed text': { make: () => mail('text/plain; format=flowed; delsp=yes', '> > x \r\n'.repeat(250_000)), reason: /90000 lines/ },
  'of 89 000 lines of flowed text': { make: () => mail('text/plain; format=flowed; delsp=yes', '> > x \r\n'.repeat(89_000)) },
  'of more than 2 MiB of flowed text': { make: () => mail('text/plain; format=flowed', '> > x \r\n'.repeat(265_000)), reason: /2 MiB/ },
  'of 3 MB of headers': { make: () => Buffer.from(head() + 'X: y\r\n'.repeat(500_000)), reason: /262144 bytes of headers/ },
  'to 60 000 recipients': { make: () => Buffer.from(`${head()}To: ${'a@b,'.repeat(60_000)}\r\n\r\nx`), reason: /1000 recipients/ },
  'of 2 000 parts in parts': { make: () => multipart(nested(2000)), reason: /nesting|levels|2000 lines/i },
  'of 200 000 unclosed tags': { make: () => mail('text/html', '<b>'.repeat(200_000)) },
  'of 100 000 unclosed links': { make: () => mail('text/html', '<a href=http://x/>'.repeat(100_000)) },
  'of 60 000 links': { make: () => mail('text/html', Array.from({ length: 60_000 }, (_, n) => `<a href=https://x.example/${n}>`).join('')) },
  'with a script in UTF-7': { make: () => mail('text/html; charset=utf-7', '+ADw-script+AD4-alert(1)+ADw-/script+AD4-') },
  'of 650 000 lines': { make: () => mail('text/html', 'a\r\n'.repeat(650_000)), reason: /90000 lines/ },
  'of 89 000 lines': { make: () => mail('text/html', 'a\r\n'.repeat(89_000)) },
};

type Newsletter = { readonly id: string; readonly title: string | null; readonly reason?: string };

describe('a newsletter that is heavy once parsed', function () {
  this.timeout(240_000);
  let house: House;
  let token: string;
  const port = (service: string) => house.service(service).port;
  const url = (path: string) => `http://127.0.0.1:${port('link-digest')}${path}`;

  before(async () => {
    // The catalogue does nothing meanwhile: what its answers take, the machine takes.
    house = await startHouse({
      services: ['link-digest', 'bookmarks'],
      settings: { Ingest__RateLimitPerHour: '1000000' },
      // 256 MiB of the parser's thread, beside the service and the mails that it receives and has taken off the queue.
      memoryBytes: { 'link-digest': 640 * mebibyte },
    });
    const { Digest__AdminPassword: password = '' } = house.settings;
    const body = JSON.stringify({ username: 'admin', password });
    const answer = await fetch(url('/api/auth/login'), { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
    ({ token } = (Object(await answer.json()) as { data: { token: string } }).data);
  });
  after(() => house.close());

  async function send(body: Buffer): Promise<number> {
    const { Ingest__Token: ingestToken = '' } = house.settings;
    const headers = { 'X-Ingest-Token': ingestToken, 'Content-Type': 'message/rfc822' };
    return (await fetch(url('/api/ingest/email'), { method: 'POST', headers, body })).status;
  }
  async function newsletters(query: string): Promise<readonly Newsletter[]> {
    const answer = await fetch(url(`/api/newsletters${query}`), { headers: { Authorization: `Bearer ${token}` } });
    return (Object(await answer.json()) as { data: readonly Newsletter[] }).data;
  }
  const all = async () => [...(await newsletters('')), ...(await newsletters('?status=rejected'))];

  /** The longest that each took to answer GET /health while the work was done. */
  async function slowestDuring<T>(work: Promise<T>): Promise<{ readonly digest: number; readonly idle: number; readonly result: T }> {
    const slowest = { digest: 0, idle: 0 };
    const ask = async (name: 'digest' | 'idle', service: string) => {
      const begun = performance.now();
      const answer = await fetch(`http://127.0.0.1:${port(service)}/health`);
      await answer.text();
      expect(answer.status).to.equal(200);
      slowest[name] = Math.max(slowest[name], performance.now() - begun);
    };
    let isDone = false;
    const watching = (async () => {
      while (!isDone) await Promise.all([ask('digest', 'link-digest'), ask('idle', 'bookmarks'), pause(10)]);
    })();
    const result = await work.finally(() => (isDone = true));
    await watching;
    return { ...slowest, result };
  }

  /** Sends it and waits for its outcome. */
  async function outcomeOf(body: Buffer): Promise<Newsletter> {
    const before = new Set((await all()).map(({ id }) => id));
    expect(await send(body), createHash('sha256').update(body).digest('hex')).to.equal(202);
    return eventually(async () => (await all()).find(({ id }) => !before.has(id)) ?? false, { withinMs: 60_000, everyMs: 50 });
  }

  for (const [what, { make, reason }] of Object.entries(heavy)) {
    it(`${what} is refused or read, GET /health answers meanwhile, and the next one is read`, async () => {
      const body = make();
      expect(body.length).to.be.below(10 * mebibyte + 1);
      let sent = 0;
      // A busy machine is slow at one time and not at another; a service that parses by itself is held up for seconds each time.
      await eventually(
        async () => {
          const another = Buffer.concat([body, Buffer.from(`\r\n${sent++}`)]);
          const { digest, idle, result } = await slowestDuring(outcomeOf(another));
          if (reason) expect(result.reason).to.match(reason);
          else expect(result.reason ?? '').to.match(/^$|^parsing takes (longer than 5000 ms|more than 256 MiB)$|^more than 2000 links$/);
          // On a busy machine an idle service takes long, too.
          expect(digest, `ms; an idle service took ${idle}`).to.be.below(Math.max(100, 10 * idle));
        },
        { withinMs: 60_000, everyMs: 1000 },
      );
      expect((await outcomeOf(newsletterMail())).reason).to.equal(undefined);
    });
  }

  it('ten at once end neither the service nor its readiness', async () => {
    const sent = Array.from({ length: 10 }, (_, index) => send(mail('text/html', `${index}${'a\r\n'.repeat(89_000)}`)).catch(() => 0));
    // A mail that is answered 503 before it was read is cut off.
    for (const status of await Promise.all(sent)) expect(status).to.be.oneOf([202, 503, 0]);
    expect(await send(newsletterMail({ subject: 'the next one' }))).to.equal(202);
    await eventually(async () => (await newsletters('')).some(({ title }) => title === 'the next one'), { withinMs: 120_000 });
    expect((await fetch(url('/health/ready'))).status).to.equal(200);
    // A dead letter is an error of its sender, told by its id and its reason.
    const { process } = house.service('link-digest');
    expect(process.lines.filter((line) => line.includes('"level":"error"') && !line.includes('dead-lettered'))).to.deep.equal([]);
  });
});
