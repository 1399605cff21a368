// By what a mail is known again.
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { identityOf } from '../../../../services/listings/mails/identity.ts';

const mail = (...lines: readonly string[]) => Buffer.from([...lines, '', 'body'].join('\r\n'));
const sha256 = (text: string | Buffer) => createHash('sha256').update(text).digest('hex');
const identity = (raw: Buffer) => identityOf(raw).toString('hex');

describe('identityOf', () => {
  it('is the SHA-256 of the Message-Id, whatever its letter case, its place, the body and the line ends', () => {
    const expected = sha256('<1@example.org>');
    expect(identity(mail('Message-ID: <1@example.org>'))).to.equal(expected);
    expect(identity(mail('From: a@example.org', 'message-id:<1@example.org>  '))).to.equal(expected);
    expect(identity(mail('Message-Id:', ' <1@example.org>', 'Date: today'))).to.equal(expected);
    expect(identity(Buffer.from('Message-Id: <1@example.org>\n\nanother body'))).to.equal(expected);
  });

  it('is else that of Date, From and Subject', () => {
    const expected = sha256('Sun, 15 Mar 2026 12:00:00 +0000\na@example.org\nNew property');
    expect(identity(mail('Subject: New', ' property', 'From: a@example.org', 'Date: Sun, 15 Mar 2026 12:00:00 +0000', 'Message-Id:'))).to.equal(expected);
    const others = [mail('Subject: New property'), mail('From: New property'), mail('Date: New property')].map(identity);
    expect(new Set([...others, expected]).size).to.equal(4);
  });

  it('is else that of the whole mail', () => {
    for (const raw of [mail('X-Mailer: none'), Buffer.from('no mail'), Buffer.from('\n\nMessage-Id: <in@the.body>')])
      expect(identity(raw)).to.equal(sha256(raw));
  });

  it('does not look into the body', () => {
    expect(identity(mail('Subject: forwarded', '', 'Message-Id: <1@example.org>'))).to.equal(sha256('\n\nforwarded'));
  });

  it('is found in little time in a head of many megabytes', () => {
    const raw = Buffer.concat([Buffer.from('X: '), Buffer.alloc(10_000_000, ' \r\n\t')]);
    const begun = performance.now();
    identityOf(raw);
    expect(performance.now() - begun).to.be.below(20_000);
  });
});
