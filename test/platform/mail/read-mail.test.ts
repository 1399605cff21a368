// The texts of a mail by the evidence of their bytes, whatever character set they declare.
import { expect } from 'chai';
import { attachedMails, readMail, sealOf } from '../../../services/platform/mail/read-mail.ts';
import { expectLinearTime } from '../../support/linear-time.ts';

const text = 'It’s a café for €1,850: Ärger, Łódź, 日本';

function mailOf(body: Buffer, type: string, encoding = '8bit'): Buffer {
  const encoded = encoding === 'base64' ? Buffer.from(body.toString('base64')) : body;
  return Buffer.concat([Buffer.from(`From: a@x\r\n${type === '' ? '' : `Content-Type: ${type}\r\n`}Content-Transfer-Encoding: ${encoding}\r\n\r\n`), encoded]);
}
async function read(mail: Buffer): Promise<string> {
  const { text: plain = '', html = '' } = await readMail(mail);
  return (plain || html).trim();
}
const mailWith = (...parts: readonly (string | Buffer)[]) => Buffer.concat(parts.map((part) => Buffer.from(part)));

describe('readMail', () => {
  for (const type of [
    'text/plain; charset=us-ascii',
    'text/plain; charset="us-ascii"',
    'text/plain; charset=iso-8859-1',
    'text/plain; charset=windows-1252',
    'text/plain; charset=iso-8859-15',
    'text/plain; charset=koi8-r',
    'text/plain; charset=x-unknown',
    'text/html; charset=us-ascii',
    'text/plain',
    '',
    'text/plain; charset=gb2312',
    'text/plain; charset=shift_jis',
    'text/plain; charset=big5',
    'text/plain; charset=utf-16',
    'text/plain; charset=ansi_x3.110-1983',
    'TEXT/PLAIN; CHARSET=Unknown-8bit; format=fixed',
    'text/plain;\r\n\tcharset="iso-8859-1"',
  ])
    for (const encoding of ['8bit', 'base64'])
      it(`reads UTF-8 in ${encoding} under ${type || 'no Content-Type'}`, async () =>
        expect(await read(mailOf(Buffer.from(text), type, encoding))).to.equal(text));

  it('reads a single character of UTF-8 under ASCII, in whatever script', async () => {
    for (const character of '¡é÷ßœőěя–’•…€™אपไ中한😀\u{10ffff}')
      expect(await read(mailOf(Buffer.from(`a ${character} b`), 'text/plain; charset=us-ascii')), character).to.equal(`a ${character} b`);
  });

  it('reads UTF-8 under another character set though its HTML, or another part, declares UTF-8', async () => {
    const html = `<meta charset="utf-8"><p>${text}</p>`;
    expect(await read(mailOf(Buffer.from(html), 'text/html; charset=iso-8859-1'))).to.equal(html);
    const parts = mailWith(
      'Content-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nä\r\n',
      '--b\r\nContent-Type: text/html; charset=us-ascii\r\n\r\n',
      `<p>${text}</p>\r\n--b--\r\n`,
    );
    expect((await readMail(parts)).html?.trim()).to.equal(`<p>${text}</p>`);
  });

  const german = 'Müllers Größe: Ärger für Übermütige';
  it('reads bytes that are not the UTF-8 that they declare in what the mail names elsewhere, else as windows-1252', async () => {
    const latin = Buffer.from(german, 'latin1');
    for (const type of ['text/plain; charset=utf-8', 'text/plain', '', 'text/html; charset="UTF-8"'])
      for (const encoding of ['8bit', 'base64']) expect(await read(mailOf(latin, type, encoding)), `${type} ${encoding}`).to.equal(german);
    expect(await read(mailOf(Buffer.from('\x93Caf\xe9\x94 \x80', 'latin1'), 'text/plain; charset=utf-8'))).to.equal('“Café” €');
    const polish = mailWith('Content-Type: text/html\r\n\r\n<meta charset=iso-8859-2><p>', Buffer.from([0xa3, 0xf3, 0x64, 0xbc]), '</p>');
    expect(await read(polish)).to.equal('<meta charset=iso-8859-2><p>Łódź</p>');
  });

  it('leaves a text in which single characters are broken', async () => {
    const cut = Buffer.concat([Buffer.from(text), Buffer.from([0xe2, 0x82])]);
    expect(await read(mailOf(cut, 'text/plain; charset=utf-8'))).to.equal(`${text}\ufffd`);
  });

  it('reads a subject by its bytes, encoded or not', async () => {
    const subject = async (written: string | Buffer) => (await readMail(mailWith('Subject: ', written, '\r\n\r\nx'))).subject;
    expect(await subject('Café, Łódź')).to.equal('Café, Łódź');
    expect(await subject(Buffer.from('Größe: Café', 'latin1'))).to.equal('Größe: Café');
    expect(await subject('=?us-ascii?Q?Caf=C3=A9?=')).to.equal('Café');
    expect(await subject('=?unknown-8bit?B?Q2Fmw6k=?= =?iso-8859-1?q?_=C3=BC?=')).to.equal('Café ü');
    expect(await subject('=?iso-8859-1?Q?Caf=E9?=')).to.equal('Café');
  });

  it('leaves what is in the character set that it declares', async () => {
    expect(await read(mailOf(Buffer.from('Café Größe Ã', 'latin1'), 'text/plain; charset=iso-8859-1'))).to.equal('Café Größe Ã');
    expect(await read(mailOf(Buffer.from([0xcc, 0xc9]), 'text/plain; charset=koi8-r'))).to.equal('ли');
    expect(await read(mailOf(Buffer.from(text), 'text/plain; charset=utf-8'))).to.equal(text);
    expect(await read(mailOf(Buffer.from('\x1b$BF|K\\\x1b(B', 'latin1'), 'text/plain; charset=iso-2022-jp'))).to.equal('日本');
    expect(await read(mailOf(Buffer.from([0x93, 0xfa, 0x96, 0x7b]), 'text/plain; charset=shift_jis'))).to.equal('日本');
  });

  it('leaves characters that look like it in a mail that is UTF-8', async () => {
    const about = 'How Ã© comes from é';
    expect(await read(mailOf(Buffer.from(about), 'text/plain; charset=UTF-8'))).to.equal(about);
  });

  it('takes linear time', async () => {
    for (const word of ['charset=', 'Content-Type: text/plain\n', '=?a?q?']) {
      const bodyOf = (parts: number) => `${'é'.repeat(parts * 25_000)}\n${word.repeat((parts * 75_000) / word.length)}`;
      await expectLinearTime((parts) => readMail(mailOf(Buffer.from(bodyOf(parts)), 'text/plain; charset=us-ascii')), word);
    }
  });
});

describe('attachedMails', () => {
  const withAttachment = (head: string, body: string) =>
    mailWith(`Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nFYI\r\n--b\r\n${head}\r\n\r\n${body}\r\n--b--\r\n`);
  const inner = 'Subject: inner\r\n\r\ntext';
  const subjects = async (raw: Buffer) => {
    const found = attachedMails((await readMail(raw)).attachments);
    return Promise.all(found.map(async (one) => (await readMail(one)).subject));
  };

  for (const head of [
    'Content-Type: message/rfc822\r\nContent-Disposition: attachment',
    'Content-Type: message/rfc822; name="a.eml"\r\nContent-Disposition: attachment; filename="a.eml"',
    'Content-Type: message/global\r\nContent-Disposition: attachment',
    'Content-Type: application/octet-stream; name="News.EML"',
    'Content-Type: text/plain\r\nContent-Disposition: attachment; filename="news.eml"',
  ])
    it(`finds ${head.replaceAll('\r\n', ', ')}`, async () => expect(await subjects(withAttachment(head, inner))).to.deep.equal(['inner']));

  it('finds none in other attachments', async () => expect(await subjects(withAttachment('Content-Type: application/pdf', inner))).to.deep.equal([]));
});

describe('a mail whose content is sealed', () => {
  const sealed = 'Content-Transfer-Encoding: base64\r\n\r\nMIIB\r\n';
  const within = (type: string, part: string, text = '') =>
    Buffer.from(`From: a@x\r\nContent-Type: ${type}; boundary=b\r\n\r\n--b\r\n\r\n${text}\r\n--b\r\n${part}\r\n--b--\r\n`);
  const tnef = `Content-Type: application/octet-stream; name="winmail.dat"\r\n${sealed}`;

  for (const [form, raw] of [
    ['S/MIME', Buffer.from(`From: a@x\r\nContent-Type: application/pkcs7-mime; smime-type=signed-data; name="smime.p7m"\r\n${sealed}`)],
    ['PGP', within('multipart/encrypted; protocol="application/pgp-encrypted"', 'Content-Type: application/pgp-encrypted\r\n\r\nVersion: 1')],
    ['Outlook', within('multipart/mixed', tnef)],
    ['Outlook', Buffer.from(`From: a@x\r\nContent-Type: application/ms-tnef\r\n${sealed}`)],
  ] as const)
    it(`has a reason not to be read: ${form}`, async () => expect(sealOf(await readMail(raw))).to.include(form));

  it('is read where it has a text beside', async () => expect(sealOf(await readMail(within('multipart/mixed', tnef, 'Hello')))).to.equal(undefined));
});
