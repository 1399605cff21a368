import { expect } from 'chai';
import { cleanNotice } from '../../../../services/webhook-intake/notifications/notice.ts';

const text = (over: Partial<Parameters<typeof cleanNotice>[0]>) => cleanNotice({ title: 'title', text: 'text', url: null, ...over });

describe('the text of a notice', () => {
  it('has one line of title, whatever line ends are in it', () => {
    expect(text({ title: 'a\r\nBcc: eve@example.org\u2028b\vc\u0085d' }).title).to.equal('a Bcc: eve@example.org b c d');
  });

  it('loses control characters, those without a width and those that turn its direction', () => {
    expect(text({ title: 'a\0b\u001b[31mc\u202ed\u200be', text: 'x\0\u0007y\r\n\tz\u2066' })).to.include({ title: 'ab[31mcde', text: 'xy\n\tz' });
  });

  it('is cut, and never through the middle of a character', () => {
    const { title, text: body } = text({ title: `${'a'.repeat(198)}😀${'b'.repeat(10_000_000)}`, text: 'é\n'.repeat(5_000_000) });
    expect(title).to.equal(`${'a'.repeat(198)}…`);
    expect(body).to.have.length(4000);
    expect(text({ text: '\ud800half' }).text).to.equal('\ufffdhalf');
  });

  it('keeps a URL only where it is one of the web, and whole', () => {
    expect(text({ url: 'https://forge.test/1?a=b&c=d' }).url).to.equal('https://forge.test/1?a=b&c=d');
    for (const url of [
      'javascript:alert(1)',
      'https://a b',
      'https://a/"onclick=',
      'data:text/html,x',
      'https://',
      `https://a/${'x'.repeat(2000)}`,
      'https://a\n',
    ]) {
      expect(text({ url }).url, url).to.equal(null);
    }
  });

  it('has a title where nothing is left of it', () => expect(text({ title: '\u200b \n' }).title).to.equal('Notification'));
});
