// UTF-8 under a character set that is not it, and texts that are what they say.
import { expect } from 'chai';
import PostalMime from 'postal-mime';
import { correctionFor } from '../../../services/platform/mail/charset.ts';

const text = 'It’s a café for €1,850: Ärger, Łódź, 日本';

function mailOf(body: Buffer, type: string, encoding = '8bit'): Buffer {
  const encoded = encoding === 'base64' ? Buffer.from(body.toString('base64')) : body;
  return Buffer.concat([Buffer.from(`From: a@x\r\n${type === '' ? '' : `Content-Type: ${type}\r\n`}Content-Transfer-Encoding: ${encoding}\r\n\r\n`), encoded]);
}
async function read(mail: Buffer): Promise<string> {
  const { text: plain = '', html = '' } = await PostalMime.parse(mail);
  return correctionFor(mail)(plain || html).trim();
}

describe('correctionFor', () => {
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
  ])
    for (const encoding of ['8bit', 'base64'])
      it(`reads UTF-8 in ${encoding} under ${type || 'no Content-Type'}`, async () =>
        expect(await read(mailOf(Buffer.from(text), type, encoding))).to.equal(text));

  it('leaves what is in the character set that it declares', async () => {
    expect(await read(mailOf(Buffer.from('Café Größe Ã', 'latin1'), 'text/plain; charset=iso-8859-1'))).to.equal('Café Größe Ã');
    expect(await read(mailOf(Buffer.from([0xcc, 0xc9]), 'text/plain; charset=koi8-r'))).to.equal('ли');
    expect(await read(mailOf(Buffer.from(text), 'text/plain; charset=utf-8'))).to.equal(text);
  });

  it('leaves characters that look like it in a mail that is UTF-8', async () => {
    const about = 'How Ã© comes from é';
    expect(await read(mailOf(Buffer.from(about), 'text/plain; charset=UTF-8'))).to.equal(about);
  });

  it('takes linear time', () => {
    const begun = performance.now();
    correctionFor(Buffer.from('charset='.repeat(100_000)))('é'.repeat(200_000));
    expect(performance.now() - begun).to.be.lessThan(5000);
  });
});
