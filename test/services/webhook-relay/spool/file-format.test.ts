import { expect } from 'chai';
import { nameFile, parseFileName, withTries } from '../../../../services/webhook-relay/spool/file-format.ts';
import { decodeSpooled, encodeSpooled } from '../../../../services/webhook-relay/spool/file-format.ts';
import { createMessage } from './fixtures.ts';

const spooledAt = new Date('2026-05-06T07:08:09.010Z');

describe('a spool file', () => {
  const message = createMessage('{"text":"two\nlines, ünd "}\n\n');
  const content = Buffer.concat([...encodeSpooled({ message, reason: 'BROKER_URL_1: unreachable', spooledAt })]);

  it('gives back the delivery as it was, with its id, priority and times', () => {
    expect(decodeSpooled(content)).to.deep.equal({ message, reason: 'BROKER_URL_1: unreachable', spooledAt });
  });

  it('keeps the content encoding of a body that has one', () => {
    const encoded = { ...message, contentEncoding: 'gzip' as const };
    const [firstLine, payload] = encodeSpooled({ message: encoded, reason: '', spooledAt });
    expect(decodeSpooled(Buffer.concat([firstLine, payload]))).to.deep.equal({ message: encoded, reason: '', spooledAt });
  });

  it('begins with one line of JSON, and the raw payload follows', () => {
    const end = content.indexOf('\n');
    expect(JSON.parse(content.toString('utf8', 0, end))).to.deep.include({ version: 1, reason: 'BROKER_URL_1: unreachable' });
    expect(content.subarray(end + 1).equals(message.body)).to.equal(true);
  });

  it('is corrupt wherever it is cut', () => {
    for (let length = 0; length < content.length; length += 1) {
      expect(decodeSpooled(content.subarray(0, length)), `cut at ${length}`).to.have.property('corrupt');
    }
  });

  it('is corrupt with a byte too many, and with one bit turned in the payload', () => {
    expect(decodeSpooled(Buffer.concat([content, Buffer.from(' ')]))).to.have.property('corrupt');
    const turned = Buffer.from(content);
    turned.writeUInt8(turned.readUInt8(content.length - 5) ^ 1, content.length - 5);
    expect(decodeSpooled(turned)).to.have.property('corrupt', 'the payload is not what the header says');
  });

  it('is corrupt when its first line is JSON but no header', () => {
    expect(decodeSpooled(Buffer.from('{"version":1}\nx'))).to.deep.equal({ corrupt: 'the first line is not a header' });
    expect(decodeSpooled(Buffer.from('null\nx'))).to.deep.equal({ corrupt: 'the first line is not a header' });
    expect(decodeSpooled(Buffer.from('{"version":2}\nx'))).to.deep.equal({ corrupt: 'this release reads version 1, not 2' });
  });
});

describe('the name of a spool file', () => {
  it('tells time and tries', () => {
    const name = nameFile(spooledAt, 'a1b2-c3');
    expect(parseFileName(name)).to.deep.equal({ name, spooledAt, tries: 0 });
    expect(parseFileName(withTries(name, 12))).to.deep.include({ spooledAt, tries: 12 });
  });

  it('sorts by time', () => {
    const times = [0, 9, 10, 999, 1000, 59_999, 3_600_000, 36_000_000, 864_000_000].map((ms) => new Date(spooledAt.getTime() + ms));
    const names = times.map((time) => nameFile(time, 'f'));
    expect(names.toReversed().toSorted()).to.deep.equal(names);
  });

  it('differs for ids that are no file names', () => {
    const names = ['../a', '../b', 'x'.repeat(300), ''].map((id) => nameFile(spooledAt, id));
    expect(new Set(names)).to.have.property('size', 4);
    for (const name of names) expect(parseFileName(name)).to.have.property('name', name);
  });

  it('is no other name', () => {
    for (const name of ['', 'refused', '0.tmp', '2026-13-45T070809.010Z_a.0.payload', `${nameFile(spooledAt, 'a')}~`]) {
      expect(parseFileName(name), name).to.equal(undefined);
    }
  });
});
