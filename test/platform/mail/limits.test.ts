// Refusals of a mail before it is parsed.
import { expect } from 'chai';
import { headLength, isTextTooLong, refusalOf } from '../../../services/platform/mail/limits.ts';

const mail = (head: string, body = 'body') => Buffer.from(`${head}\r\n\r\n${body}`);
const parts = (...bodies: readonly string[]) =>
  mail('Content-Type: multipart/mixed; boundary=b', `${bodies.map((body) => `--b\r\n${body}\r\n`).join('')}--b--\r\n`);
const mebibyte = 1_048_576;

describe('headLength', () => {
  it('counts what stands before the first empty line, whatever the line ends', () => {
    for (const text of ['A: b\r\n\r\nx\n\ny', 'A: b\n\nx', 'A: b\n\r\nx']) expect(headLength(Buffer.from(text))).to.be.oneOf([4, 5]);
    for (const text of ['A: b', 'A: b\n\n\r\nx', 'A: b\n\nx\r\n\r\ny']) expect(headLength(Buffer.from(text))).to.equal(4);
    const endless = Buffer.concat([Buffer.from('X: '), Buffer.alloc(10_000_000, ' \r\n\t')]);
    expect(headLength(endless)).to.equal(endless.length);
  });
});

describe('a mail before it is parsed', () => {
  it('is refused with more than 2000 boundary-like lines', () => {
    expect(refusalOf(parts(...Array.from({ length: 1999 }, () => '\r\n')))).to.equal(undefined);
    expect(refusalOf(parts(...Array.from({ length: 2000 }, () => '\r\n')))).to.include('2000 lines');
    expect(refusalOf(mail('A: b', '--b\r\n\r\n'.repeat(1_300_000)))).to.include('2000 lines');
  });

  it('is refused with more than 256 KiB of headers', () => {
    expect(refusalOf(mail(`X: ${'x'.repeat(262_000)}`))).to.equal(undefined);
    expect(refusalOf(mail(`X: ${'x'.repeat(262_144)}`))).to.include('262144 bytes of headers');
    expect(refusalOf(Buffer.from('X: y\r\n'.repeat(500_000)))).to.include('262144 bytes of headers');
  });

  it('is refused with more than 1000 recipients in all headers that name some', () => {
    const some = (count: number) => Array.from({ length: count }, (_, index) => `a${index}@example.org`).join(', ');
    expect(refusalOf(mail(`To: ${some(600)}\r\nX: 1\r\ncc: ${some(400)}`))).to.equal(undefined);
    expect(refusalOf(mail(`To: ${some(600)}\r\nX: 1\r\ncc: ${some(401)}`))).to.equal('more than 1000 recipients');
    expect(refusalOf(mail(`To:${' a@b.c,\r\n'.repeat(1001)} d@e.f`))).to.equal('more than 1000 recipients');
    expect(refusalOf(mail(`Resent-Bcc: everybody:${'a@b.c;'.repeat(60_000).slice(0, 250_000)}`))).to.equal('more than 1000 recipients');
    expect(refusalOf(Buffer.from(`To: ${'a@b,'.repeat(60_000)}`))).to.equal('more than 1000 recipients');
  });

  it('counts no comma of a quoted name, and none of another header', () => {
    expect(refusalOf(mail(String.raw`To: "${String.raw`Doe, \", John`.repeat(2000)}" <a@example.org>`))).to.equal(undefined);
    expect(refusalOf(mail(`Subject: ${'a, '.repeat(2000)}`, `To: ${'a, '.repeat(2000)}`))).to.equal(undefined);
  });

  it('is refused with a text part above 2 MiB, decoded', () => {
    const tooLong = 'a text part is larger than 2 MiB';
    const text = 'x'.repeat(2 * mebibyte + 1);
    const base64 = 'Content-Type: text/html\r\nContent-Transfer-Encoding: base64';
    expect(refusalOf(mail('From: a@example.org', text))).to.equal(tooLong);
    expect(refusalOf(mail('Content-Type: text/plain; format=flowed', '> > x \r\n'.repeat(300_000)))).to.equal(tooLong);
    expect(refusalOf(mail(base64, 'QUFB'.repeat(2_000_000)))).to.equal(tooLong);
    expect(refusalOf(parts('Content-Type: text/plain\r\n\r\nshort', `Content-Type: TEXT/HTML\r\n\r\n${text}`))).to.equal(tooLong);
    expect(refusalOf(parts(`\r\n${text}`))).to.equal(tooLong);
    expect(refusalOf(mail(base64, 'QUFB'.repeat(600_000)))).to.equal(undefined);
    expect(refusalOf(mail('Content-Transfer-Encoding: quoted-printable', '=3D'.repeat(mebibyte)))).to.equal(undefined);
  });

  it('is refused with more than 90 000 lines that are not decoded, in all parts together', () => {
    const tooMany = 'more than 90000 lines that are neither base64 nor quoted-printable';
    expect(refusalOf(mail('Content-Type: text/html', 'a\r\n'.repeat(89_900)))).to.equal(undefined);
    expect(refusalOf(mail('Content-Type: text/html', 'a\r\n'.repeat(90_000)))).to.equal(tooMany);
    expect(refusalOf(mail('Content-Type: application/pdf', '\n'.repeat(10_000_000)))).to.equal(tooMany);
    expect(refusalOf(parts(`\r\n${'\n'.repeat(50_000)}`, `Content-Type: image/png\r\n\r\n${'\n'.repeat(50_000)}`))).to.equal(tooMany);
    const encoded = (encoding: string) => `Content-Type: text/csv\r\nContent-Transfer-Encoding:\r\n ${encoding}\r\n\r\n${'QUFB\r\n'.repeat(60_000)}`;
    expect(refusalOf(parts('\r\ntext', encoded('BASE64'), encoded('quoted-printable')))).to.equal(undefined);
    expect(refusalOf(parts('\r\ntext', encoded('8bit'), encoded('binary')))).to.equal(tooMany);
  });

  it('may have an attachment of any size', () => {
    const bytes = 'QUFB'.repeat(2_000_000);
    expect(refusalOf(parts('\r\ntext', `Content-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\n${bytes}`))).to.equal(undefined);
    expect(refusalOf(parts('\r\ntext', `Content-Type: text/csv\r\nContent-Disposition: attachment\r\n\r\n${bytes}`))).to.equal(undefined);
  });

  it('may be no mail at all', () => {
    for (const raw of ['', '\n', '--', '\r\n\r\n', '\0'.repeat(1000)]) expect(refusalOf(Buffer.from(raw))).to.equal(undefined);
  });
});

describe('isTextTooLong', () => {
  it('tells what a parser made of text parts', () => {
    const most = 'x'.repeat(2 * mebibyte);
    expect([isTextTooLong(null, undefined, most), isTextTooLong('', `${most}x`)]).to.deep.equal([false, true]);
  });
});
