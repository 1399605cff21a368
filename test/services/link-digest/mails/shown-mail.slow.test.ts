// Mails as people read them in a real browser, which is the one that decides what HTML does: no attack runs, fetches or leaves the page.
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { showMail } from '../../../../services/link-digest/mails/shown-mail.ts';
import { chromium, chromiumPath } from '../../../support/chromium.ts';
import { temporaryDirectory } from '../../../support/guard.ts';
import { describeWith } from '../../../support/need.ts';
import { attacks } from './attacks.ts';

const run = promisify(execFile);

describeWith(chromium, 'mails in a browser', function () {
  this.timeout(300_000);
  const directory = temporaryDirectory('shown-mail');
  const fetched: string[] = [];
  const server = createServer((request, response) => {
    fetched.push(request.url ?? '');
    response.writeHead(200, { 'Access-Control-Allow-Origin': '*' }).end();
  });
  let port = 0;
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  });
  after(() => server.close());

  /** Loads each HTML as it is, and as a script inserts it. @returns the number of pages, with the calls of `hit` */
  async function load(htmls: readonly string[]): Promise<{ pages: number; hits: number[] }> {
    const page = join(directory, 'page.html');
    const script = `
      const htmls = ${JSON.stringify(htmls).replaceAll('<', String.raw`\u003c`)};
      const hits = [];
      let pages = 0;
      for (const [index, html] of htmls.entries()) {
        window['hit' + index] = () => hits.push(index);
        const calling = html.replaceAll('hit()', 'parent.hit' + index + '()');
        const frame = document.createElement('iframe');
        frame.onload = () => {
          const inside = frame.contentDocument?.body;
          if (inside) inside.innerHTML = inside.innerHTML;
          const link = frame.contentDocument?.querySelector('a,p,img');
          link?.dispatchEvent(new MouseEvent('mouseover', { bubbles: true }));
          pages += 1;
        };
        frame.srcdoc = calling;
        document.body.append(frame);
      }
      // Until all are loaded and two seconds are quiet; an attack may keep its page from loading.
      let quiet = 0;
      let seen = 0;
      setInterval(() => {
        quiet = pages === seen ? quiet + 1 : 0;
        seen = pages;
        if (quiet >= (pages >= htmls.length ? 10 : 100)) document.title = JSON.stringify({ pages, hits: [...new Set(hits)] });
      }, 200);`;
    await writeFile(page, `<!doctype html><meta charset=utf-8><title>waiting</title><body><script>${script}</script>`);
    const options = [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      `--user-data-dir=${join(directory, 'profile')}`,
      '--virtual-time-budget=60000',
      '--dump-dom',
    ];
    const hosts = `--host-resolver-rules=MAP evil.example:80 127.0.0.1:${port}, MAP evil.example:443 127.0.0.1:${port}, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1`;
    const { stdout } = await run(chromiumPath ?? '', [...options, hosts, `file://${page}`], { maxBuffer: 64 * 1_048_576 });
    const title = /<title>(\{.*?\})<\/title>/s.exec(stdout)?.[1];
    if (title === undefined) throw new Error(`the page did not end: ${stdout.slice(0, 300)}`);
    return JSON.parse(title) as { pages: number; hits: number[] }; // the script's own
  }
  const httpOnly = (html: string) => html.replaceAll('https://evil.example', 'http://evil.example');

  it('runs and fetches something of the attacks as they are', async () => {
    const { hits } = await load(attacks.map(httpOnly));
    expect(hits.length).to.be.above(20);
    expect(fetched.length).to.be.above(5);
  });

  it('runs and fetches nothing of what people are shown', async () => {
    fetched.length = 0;
    const htmls = await Promise.all(
      attacks.map(async (attack) => {
        const { html } = await showMail(Buffer.from(`Content-Type: text/html; charset=utf-8\r\n\r\n${httpOnly(attack)}`), { hasRemoteImages: false });
        return html ?? '';
      }),
    );
    const { pages, hits } = await load(htmls);
    expect(hits.map((index) => attacks[index])).to.deep.equal([]);
    expect(fetched).to.deep.equal([]);
    expect(pages).to.be.at.least(attacks.length);
  });
});
