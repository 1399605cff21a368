// GET /api/newsletters/{id}/mail: the mail of a newsletter, and where there is none to show.
import { expect } from 'chai';
import { createNewsletterReader } from '../../../../services/link-digest/mails/reader.ts';
import { useService } from '../service.ts';
import { mail, newsletter } from '../store.ts';

const unknownId = '0197c000-0000-7000-8000-000000000000';
const html = '<p onclick=x>Read <a href="https://blog.example/a">this</a><script>x</script><img src="https://blog.example/a.png" alt="A picture"></p>';
const written = [
  'From: Weekly <weekly@news.example>',
  'To: reader@example.org',
  'Date: Sun, 15 Mar 2026 12:00:00 +0000',
  'Subject: Number 1',
  'Content-Type: text/html; charset=utf-8',
  '',
  html,
].join('\r\n');

describe('GET /api/newsletters/{id}/mail', function () {
  this.timeout(60_000);
  const running = useService();
  const { query } = running.database;

  async function store(text = written): Promise<string> {
    const raw = mail(text);
    const parsed = await createNewsletterReader()(raw);
    await running.database.newsletters.store(raw, parsed.kind === 'parsed' ? parsed.value : newsletter([]));
    return String((await query('select id from newsletters'))[0].id);
  }
  const get = (id: string, parameters = '') => running.get(`/api/newsletters/${id}/mail${parameters}`);

  it('answers who wrote it, its text, and its HTML without what runs or fetches', async () => {
    const id = await store();
    const { status, body } = await get(id);
    expect(status).to.equal(200);
    expect(body).to.deep.equal({
      success: true,
      data: {
        id,
        title: 'Number 1',
        receivedDate: '2026-03-15T12:00:00.000Z',
        from: { name: 'Weekly', address: 'weekly@news.example' },
        to: [{ name: '', address: 'reader@example.org' }],
        text: null,
        html: '<p>Read <a href="https://blog.example/a" rel="noreferrer noopener nofollow" target="_blank">this</a><img alt="A picture" /></p>\n',
        remoteImages: 1,
      },
    });
    expect((await query('select is_compressed as compressed from raw_mails'))[0].compressed).to.equal(true);
  });

  it('has images on other hosts only where they are asked for', async () => {
    const id = await store();
    expect((await get(id, '?images=TRUE')).body.data.html).to.include('<img alt="A picture" src="https://blog.example/a.png" referrerpolicy="no-referrer" />');
    for (const parameters of ['', '?images=false', '?images=']) expect((await get(id, parameters)).body.data.html).not.to.include('a.png');
  });

  it('answers 422 for another value of images, before it looks for the newsletter', async () => {
    const { status, body } = await get(unknownId, '?images=yes');
    expect([status, body]).to.deep.equal([422, { success: false, message: 'images must be one of true, false' }]);
  });

  for (const id of [unknownId, 'x', '%00'])
    it(`answers 404 for ${id}`, async () => expect((await get(id)).body).to.deep.equal({ success: false, message: 'No such newsletter' }));

  it('answers 404 for a refused mail, as its newsletter does', async () => {
    await running.database.newsletters.reject(mail(written), 'too many parts');
    expect((await get((await query('select id from newsletters'))[0].id)).status).to.equal(404);
  });

  it('answers 410 once the mail is deleted after its retention time; the newsletter stays', async () => {
    const id = await store();
    await query('delete from raw_mails');
    const { status, body } = await get(id);
    expect([status, body]).to.deep.equal([410, { success: false, message: 'The mail of this newsletter was deleted after its retention time' }]);
    expect((await running.get(`/api/newsletters/${id}`)).status).to.equal(200);
  });

  it('answers 422 with the reason for a mail that exceeds the bounds of a parser', async () => {
    const id = await store(`Subject: x\r\n\r\n${'x'.repeat(2_097_153)}`);
    const { status, body } = await get(id);
    expect([status, body]).to.deep.equal([422, { success: false, message: 'The mail cannot be shown: a text part is larger than 2 MiB' }]);
  });

  it('answers 401 without a token', async () => {
    const answer = await fetch(`${running.url}/api/newsletters/${await store()}/mail`);
    expect(answer.status).to.equal(401);
  });

  it('answers many readers at once', async () => {
    const id = await store();
    const answers = await Promise.all(Array.from({ length: 20 }, () => get(id)));
    expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 200));
  });
});

describe('GET /api/newsletters/{id}/mail of a mail that takes too long to parse', () => {
  const running = useService({ bounds: { parseMs: 1 } });

  it('answers 503, since the machine may be busy', async () => {
    const links = '<table><tr><td style="color:red">x</td></tr></table>'.repeat(20_000);
    await running.database.newsletters.store(mail(`Content-Type: text/html\r\n\r\n${links}`), newsletter([]));
    const { data } = (await running.get('/api/newsletters')).body;
    const { status, headers, body } = await running.get(`/api/newsletters/${data[0].id}/mail`);
    expect([status, headers.get('retry-after'), body.message]).to.deep.equal([503, '5', 'The mail cannot be shown now: parsing takes longer than 1 ms']);
  });
});
