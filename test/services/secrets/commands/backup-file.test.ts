import { expect } from 'chai';
import { createSecretKey, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { Secret } from '../../../../services/platform/config/secret.ts';
import { BackupRefused, openLines, readBackupKey, sealLines } from '../../../../services/secrets/commands/backup-file.ts';

const key = createSecretKey(Buffer.alloc(32, 7));
const texts = ['{"one":1}', 'zwei 🔑', '', 'x'.repeat(1000), 'last'];

async function arrayOf(items: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const sealed = async (lines: readonly string[] = texts, under = key) => (await arrayOf(sealLines(under, Readable.from(lines)))).join('');

function opened(backup: string | Buffer, { under = key, chunkBytes = 65_536 } = {}): Promise<string[]> {
  const bytes = Buffer.from(backup);
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunkBytes) }, (_, index) => bytes.subarray(index * chunkBytes, (index + 1) * chunkBytes));
  return arrayOf(openLines(under, Readable.from(chunks)));
}

async function refusalOf(backup: string | Buffer, under = key): Promise<string> {
  try {
    await opened(backup, { under });
  } catch (error) {
    if (error instanceof BackupRefused) return error.message;
    throw error;
  }
  return 'it was read';
}

describe('sealLines and openLines', () => {
  it('give back what was sealed, however the bytes arrive', async () => {
    const backup = await sealed();
    for (const chunkBytes of [1, 7, 100, 65_536]) expect(await opened(backup, { chunkBytes })).to.deep.equal(texts);
  });

  it('keep a single line', async () => expect(await opened(await sealed(['only']))).to.deep.equal(['only']));

  it('write a JSON value on each line, and nothing of what they say', async () => {
    const backup = await sealed(['a marker that would be seen']);
    const lines = backup.split('\n');
    expect(lines.pop()).to.equal('');
    for (const line of lines) expect(() => JSON.parse(line)).not.to.throw();
    const all = backup + lines.map((line) => Buffer.from(line, 'base64').toString('latin1')).join('');
    expect(all).not.to.include('marker').and.not.include(Buffer.from('marker').toString('hex'));
  });

  it('seal the same texts differently each time', async () => {
    const [one, two] = [(await sealed()).split('\n'), (await sealed()).split('\n')];
    expect(one.filter((line, index) => line === two[index])).to.deep.equal(['']);
  });

  it('refuse every byte that was changed', async () => {
    const backup = Buffer.from(await sealed(['one', 'two', 'three']));
    for (let index = 0; index < backup.length; index++) {
      for (const bit of [1, 2, 16, 128]) {
        const changed = Buffer.from(backup);
        changed.writeUInt8((changed[index] ?? 0) ^ bit, index);
        expect(await refusalOf(changed), `byte ${index} of ${backup.length}, bit ${bit}`).not.to.equal('it was read');
      }
    }
  });

  it('refuse every backup that was cut, at whatever byte', async () => {
    const backup = await sealed(['one', 'two', 'three']);
    for (let length = 0; length < backup.length; length++)
      expect(await refusalOf(backup.slice(0, length)), `the first ${length} bytes`).not.to.equal('it was read');
  });

  it('refuse lines in another order, twice, or left out', async () => {
    const [header = '', a = '', b = '', c = '', d = '', e = ''] = (await sealed()).split(/(?<=\n)/);
    expect(await opened([header, a, b, c, d, e].join(''))).to.deep.equal(texts);
    const others = { swapped: [a, c, b, d, e], 'last first': [e, a, b, c, d], twice: [a, b, b, c, d, e], 'last twice': [a, b, c, d, e, e] };
    const without = { 'without the first': [b, c, d, e], 'without one': [a, b, d, e], 'without the last': [a, b, c, d], 'the last only': [e] };
    for (const [what, lines] of Object.entries({ ...others, ...without })) {
      expect(await refusalOf(header + lines.join('')), what).to.match(/was changed, put in another order or cut short$/);
    }
  });

  it('refuse a line of another backup under the same key', async () => {
    const [one, two] = [(await sealed()).split(/(?<=\n)/), (await sealed()).split(/(?<=\n)/)];
    expect(await refusalOf([...one.slice(0, 2), two[2], ...one.slice(3)].join(''))).to.match(/refused at line 3/);
    expect(await refusalOf([two[0], ...one.slice(1)].join(''))).to.match(/refused at line 2/);
  });

  it('refuse another key, and say that it may be that', async () => {
    expect(await refusalOf(await sealed(), createSecretKey(randomBytes(32)))).to.equal(
      'the backup is refused at line 2: Backup__Key is not its key, or it was changed, put in another order or cut short',
    );
  });

  for (const [what, text] of Object.entries({
    nothing: '',
    'a text': 'hello\nworld\n',
    'a dump': '--\n-- PostgreSQL database dump\n--\n',
    'a newer format': `${JSON.stringify({ format: 'signalbox secrets backup', version: 2, salt: randomBytes(32).toString('base64') })}\n"x"\n`,
    'a line without an end': 'x'.repeat(5_000_000),
  })) {
    it(`refuse ${what}`, async () => expect(await refusalOf(text)).to.match(/^(this is no backup of the secrets service|the backup is (empty|cut short))/));
  }

  it('refuse to seal nothing at all', async () => {
    const failure = await sealed([]).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(BackupRefused);
  });
});

describe('readBackupKey', () => {
  it('takes the base64 of 32 bytes', () => {
    const bytes = randomBytes(32);
    expect(
      readBackupKey(new Secret(`${bytes.toString('base64')}\n`))
        .export()
        .equals(bytes),
    ).to.equal(true);
  });

  for (const text of [
    '',
    'hidden',
    Buffer.alloc(31).toString('base64'),
    Buffer.alloc(33).toString('base64'),
    Buffer.alloc(32).toString('hex'),
    `${Buffer.alloc(32).toString('base64')}!`,
  ]) {
    it(`refuses '${text.slice(0, 10)}…' of ${text.length} characters without showing it`, () => {
      expect(() => readBackupKey(new Secret(text))).to.throw(/^Backup__Key must be the base64 of 32 bytes$/);
    });
  }
});
