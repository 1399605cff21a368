import { format, inspect } from 'node:util';
import { expect } from 'chai';
import { Secret } from '../../../services/platform/config/secret.ts';
import { captureLog } from '../captured-log.ts';

describe('Secret', () => {
  const secret = new Secret('hunter2');

  it('leaves its box by name', () => {
    expect(secret.reveal()).to.equal('hunter2');
  });

  it('does not print, whatever prints it', () => {
    const inside = { config: { secret, list: [secret] } };
    const { log, text } = captureLog();
    log.info({ inside, other: secret }, 'started with %s %j', secret, inside);
    const printed = [
      `${secret}`,
      secret + '',
      JSON.stringify(inside),
      inspect(inside, { depth: 9, showHidden: true }),
      format('%s %o %j', secret, secret, inside),
      text(),
    ];
    for (const one of printed) expect(one).to.not.include('hunter2');
  });

  it('gives nothing away by its keys or a copy', () => {
    expect(Object.keys(secret)).to.deep.equal([]);
    expect(JSON.stringify({ ...secret })).to.equal('{}');
    expect(JSON.stringify(structuredClone({ ...secret }))).to.equal('{}');
  });
});
