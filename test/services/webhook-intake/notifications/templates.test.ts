import { expect } from 'chai';
import { compose } from '../../../../services/webhook-intake/notifications/composing.ts';
import { contentOf } from '../../../../services/webhook-intake/notifications/templates.ts';

const hostile = { title: '<script>alert("1")</script> & co', text: "</p><img src=x onerror='alert(1)'>", url: "https://forge.test/?a=1&b='" };

describe('the content of a message', () => {
  it('has text and HTML, in which everything of a payload is escaped', () => {
    const { subject, text, body, html, url } = contentOf([hostile]);
    expect([subject, body, url]).to.deep.equal([hostile.title, hostile.text, hostile.url]);
    expect(text).to.equal([hostile.title, hostile.text, hostile.url].join('\n\n'));
    expect(html).to.contain('href="https://forge.test/?a=1&amp;b=&#39;"').and.to.contain('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; co');
    expect(html).to.not.match(/<script|<img|<\/p><|alert\(['"]/);
  });

  it('is a digest of several notices, each with its title and where to read on', () => {
    const { subject, text, html } = contentOf([hostile, { title: 'second', text: '', url: null }]);
    expect(subject).to.equal('2 notifications');
    expect(text).to.contain(`- ${hostile.title}\n  ${hostile.url}`).and.to.contain('- second');
    expect(contentOf([{ title: 'second', text: '', url: null }]).body).to.equal('second');
    expect(html).to.contain('<li>second</li>').and.to.not.contain('<script');
  });
});

describe('messages within the cap', () => {
  const waiting = [1, 2, 3, 4, 5];
  it('tell one notification each while there is room', () => expect(compose([1, 2], 5, { pending: 1, sent: 0 })).to.deep.equal([[1], [2]]));
  it('leave the last of an hour for a digest', () => expect(compose(waiting, 3, { pending: 0, sent: 0 })).to.deep.equal([[1], [2]]));
  it('are a digest of all the rest once those before are sent', () => {
    expect(compose(waiting, 3, { pending: 1, sent: 1 })).to.deep.equal([]);
    expect(compose(waiting, 3, { pending: 0, sent: 2 })).to.deep.equal([waiting]);
  });
  it('are none beyond the cap, whether sent or waiting', () => {
    expect([compose(waiting, 3, { pending: 3, sent: 0 }), compose(waiting, 3, { pending: 0, sent: 3 })]).to.deep.equal([[], []]);
  });
});
