// A parser that takes bodies whole makes of any mail what postal-mime makes of it line by line.
import { expect } from 'chai';
import PostalMime from 'postal-mime';
import { takeWholeBodies } from '../../../services/platform/mail/whole-bodies.ts';
import { createRandom } from '../../soak/random.ts';

class WholeBodies extends PostalMime {}
takeWholeBodies(WholeBodies.prototype);

const random = createRandom(20_261_201, 'mails');
const some = (most: number, make: () => string) => Array.from({ length: random.below(most + 1) }, make).join('');
const pieces = [
  'a',
  'Zm9v',
  'YmE=',
  '=',
  '==',
  '=3D',
  '=3d',
  '=3',
  '=0D',
  '=0A=',
  '=G0',
  ' ',
  '\t',
  '\r',
  '\n',
  '\r\n',
  '\r\r\n',
  '=\r\n',
  '\n--',
  '--',
  '--b',
  '--b ',
  'é',
  '\0',
  '\ufeff',
];
const body = () => some(40, () => random.pick(pieces));
const end = () => random.pick(['\r\n', '\n']);
const encoding = () => random.pick(['quoted-printable', 'base64', '8bit', '7bit', 'Quoted-Printable (text)', 'unknown']);
const leaf = (type: string) => `Content-Type: ${type}${end()}Content-Transfer-Encoding: ${encoding()}${end()}${random.pick([end(), end(), ''])}${body()}`;
function part(depth: number): string {
  const kind = random.below(depth > 0 ? 6 : 4);
  if (kind < 3) return leaf(random.pick(['text/plain', 'text/html; charset=utf-8', 'image/png', 'text/plain; format=flowed; delsp=yes']));
  if (kind === 3) return `Content-Type: message/rfc822${end()}${end()}Subject: inner${end()}${leaf('text/plain')}`;
  const boundary = random.pick(['b', 'bb', 'b b', '--']);
  const parts = some(3, () => `${end()}--${boundary}${random.pick(['', ' ', '--', 'x'])}${end()}${part(depth - 1)}`);
  return `Content-Type: multipart/${random.pick(['mixed', 'alternative', 'related', 'digest'])}; boundary="${boundary}"${end()}${end()}${body()}${parts}${random.pick(['', `${end()}--${boundary}--`])}${body()}`;
}

describe('whole bodies', () => {
  it('are decoded as their lines are', async () => {
    for (let count = 0; count < 3000; count += 1) {
      const mail = Buffer.from(`Subject: ${count}${end()}${part(2)}`);
      const whole = await new WholeBodies().parse(mail);
      expect(whole, mail.toString()).to.deep.equal(await new PostalMime().parse(mail));
    }
  });
  it('of base64 may be longer than a piece', async () => {
    const bytes = Buffer.alloc(300_000, 'signals ');
    const mail = `Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\n${bytes.toString('base64').replaceAll(/.{75}/g, '$&\r\n')}`;
    expect((await new WholeBodies().parse(mail)).text?.trimEnd()).to.equal(bytes.toString().trimEnd());
  });
});
