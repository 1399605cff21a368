// Reading the bytes of a mail, before extraction.
import { expect } from 'chai';
import { parseMail } from '../../../../services/link-digest/mails/parser.ts';

const parse = (...lines: readonly string[]) => parseMail(Buffer.from(lines.join('\r\n'), 'latin1'));

describe('parseMail', () => {
  it('decodes the subject', async () => {
    expect((await parse('Subject: =?utf-8?q?Caf=C3=A9_Weekly?=', ' =?utf-8?b?IOKAkyAjMTI=?=', '', 'x')).subject).to.equal('Café Weekly – #12');
  });

  it('has a folded subject on one line', async () => {
    expect((await parse('Subject:', ' Weekly', '\tissue  12', '', 'x')).subject).to.equal('Weekly issue 12');
  });

  it('reads a mail behind a byte order mark, empty lines or the line of an mbox', async () => {
    for (const lead of ['\xef\xbb\xbf', '\r\n\r\n', 'From w@news.example Mon Mar  2 10:00:00 2026\r\n'])
      expect(await parse(`${lead}From: w@news.example`, 'Subject: Weekly', '', 'x')).to.include({ subject: 'Weekly', from: 'w@news.example' });
  });

  it('reads the Date header, whatever its zone', async () => {
    expect((await parse('Date: Sun, 22 Nov 2026 09:30:00 -0500 (EST)', '', 'x')).date).to.deep.equal(new Date('2026-11-22T14:30:00Z'));
  });

  const zones = {
    'Sun, 22 Nov 2026 09:30:00 CEST': '2026-11-22T07:30:00Z',
    'Sun, 22 Nov 2026 09:30:00 CET': '2026-11-22T08:30:00Z',
    'Sun, 22 Nov 2026 09:30 MESZ': '2026-11-22T07:30:00Z',
    'Sun, 22 Nov 2026 09:30:00 EST': '2026-11-22T14:30:00Z',
    'Sun, 22 Nov 2026 09:30:00 GMT': '2026-11-22T09:30:00Z',
    'Sun, 22 Nov 2026 09:30:00 XYZT': '2026-11-22T09:30:00Z',
    'Sun, 22 Nov 2026 (a comment) 09:30:00 +0200 (CEST)': '2026-11-22T07:30:00Z',
  };
  for (const [date, expected] of Object.entries(zones))
    it(`reads a zone by its name: ${date}`, async () => expect((await parse(`Date: ${date}`, '', 'x')).date).to.deep.equal(new Date(expected)));

  const none = ['yesterday', 'Sat, 31 Feb 2026 10:00:00 +0000', '31 Nov 26 10:00:00 GMT', 'Sun, 29 Feb 2026 10:00:00 -0500', '3 Mar 2026 25:00:00 +0000'];
  for (const date of [...none, '3 Mar 2026 10:61:00 +0000', '3 Mar 2026 24:00:00 +0000', '']) {
    it(`has no date where the header is no date: ${date}`, async () => expect((await parse(`Date: ${date}`, '', 'x')).date).to.equal(null));
  }

  const odd = { '29 Feb 2028 23:59:59 -1200': '2028-03-01T11:59:59Z', 'Sunday, 1 November 2026 00:00:00 +1400': '2026-10-31T10:00:00Z' };
  for (const [date, expected] of Object.entries(odd)) {
    it(`has the date ${date}`, async () => expect((await parse(`Date: ${date}`, '', 'x')).date).to.deep.equal(new Date(expected)));
  }

  for (const header of ['From: a@example.org', 'Subject:', 'Subject: =?utf-8?q?_?=']) {
    it(`has no subject where there is none, or nothing in it: ${header}`, async () => expect((await parse(header, '', 'x')).subject).to.equal(null));
  }

  const recipients = [
    ['To: Reader <reader@example.org>, other@example.org', 'reader@example.org'],
    ['To: undisclosed-recipients:;', null],
    ['To: Readers: first@example.org, second@example.org;', 'first@example.org'],
    ['Cc: copy@example.org', null],
  ] as const;
  for (const [header, expected] of recipients) {
    it(`takes the first address of To: ${header}`, async () => expect((await parse(header, '', 'x')).to).to.equal(expected));
  }

  const messageIds = [
    ['Message-ID: <number-1@news.example>', 'number-1@news.example'],
    ['Message-Id:  number-1@news.example (a comment)', 'number-1@news.example (a comment)'],
    ['Message-ID: <>', null],
    ['From: a@news.example', null],
  ] as const;
  for (const [header, expected] of messageIds) {
    it(`takes the identifier of Message-ID: ${header}`, async () => expect((await parse(header, '', 'x')).messageId).to.equal(expected));
  }

  it('takes address and name of From', async () => {
    expect(await parse('From: Weekly <weekly@news.example>', '', 'x')).to.include({ from: 'weekly@news.example', sender: 'Weekly' });
  });

  it('keeps the HTML part and the text part apart, each decoded', async () => {
    const mail = await parse(
      'Content-Type: multipart/alternative; boundary=b',
      '',
      '--b',
      'Content-Type: text/plain; charset=iso-8859-1',
      '',
      'Caf\xe9',
      '--b',
      'Content-Type: text/html; charset=utf-8',
      'Content-Transfer-Encoding: quoted-printable',
      '',
      '<p>Caf=C3=A9</p>',
      '--b--',
      '',
    );
    expect({ html: mail.html?.trim(), text: mail.text?.trim() }).to.deep.equal({ html: '<p>Café</p>', text: 'Café' });
  });

  it('has null for a part that is not there', async () => {
    expect(await parse('From: a@example.org', '', 'only text')).to.include({ html: null });
    expect(await parse('Content-Type: text/html', '', '<p>only HTML</p>')).to.include({ text: null });
  });

  it('lists the targets of List-Unsubscribe', async () => {
    const { unsubscribe } = await parse('List-Unsubscribe: <mailto:leave@news.example>,', ' <https://news.example/leave?u=1>', '', 'x');
    expect(unsubscribe).to.deep.equal(['mailto:leave@news.example', 'https://news.example/leave?u=1']);
  });

  it('refuses a mail whose content is sealed', async () => {
    const failure = await parse('From: a@x', 'Content-Type: application/pkcs7-mime', '', 'MIIB').catch(String);
    expect(failure).to.include('S/MIME');
  });
  it('makes an empty mail of no bytes', async () => {
    const nothing = { subject: null, messageId: null, date: null, from: null, sender: null, to: null, html: null, text: null };
    expect(await parse()).to.deep.equal({ ...nothing, unsubscribe: [], attached: [] });
  });
});
