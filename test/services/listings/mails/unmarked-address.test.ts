// The address in alert mails that mark none, and how far from the link it is searched.
import { expect } from 'chai';
import { readWorkerConfig } from '../../../../services/listings/config.ts';
import { parseAlertMail } from '../../../../services/listings/mails/parser.ts';
import { expectLinearTime } from '../../../support/linear-time.ts';
import { alertMail, linkTo } from './alert-mails.ts';

const { linkPattern } = readWorkerConfig({ DATABASE_URL: 'postgres://nobody/nothing' });
async function listingIn(raw: Buffer) {
  const parsed = await parseAlertMail(raw, linkPattern);
  const [first] = parsed.kind === 'listings' ? parsed.listings : [];
  if (first?.kind !== 'listing') throw new Error(JSON.stringify(first ?? parsed));
  return first.listing;
}
const inText = (text: string) => listingIn(alertMail({ text: `${text}\r\n${linkTo(1)}` }));

describe('a mail that marks no address', () => {
  for (const lines of [
    'Hi Anna,<br>12 High Street, Cork<br>€900 per month<br>LINK',
    'Hi Anna,<br>New flats in Cork, Ireland<br>12 High Street, Cork<br>€900 per month<br>LINK<br>Agency, 1 Quay, Cork',
    'Hi Anna,<br>12 High Street, Cork LINK €900 per month',
    'Hi Anna,<br>LINK<br>12 High Street, Cork<br>€900 per month<br>Agency, 1 Quay, Cork',
  ])
    it(`takes no greeting for the address in ${lines}`, async () => {
      const html = `<body>${lines.replace('LINK', `<a href="${linkTo(1)}">View</a>`)}</body>`;
      expect((await listingIn(alertMail({ html }))).address).to.equal('12 High Street, Cork');
    });

  for (const lines of [
    '12 High Street, Cork\r\n€900 per month\r\nLINK',
    '12 High Street, Cork €900 per month\r\nLINK',
    '2 Bed Apartment - 12 High Street, Cork - €900 per month\r\nLINK',
    'Hi Anna,\r\n\r\n900 € per month | 12 High Street, Cork\r\n\r\nLINK',
    'LINK\r\n12 High Street, Cork\r\n€900 per month',
  ])
    it(`reads that of a mail of text in ${JSON.stringify(lines)}`, async () => {
      expect((await listingIn(alertMail({ text: lines.replace('LINK', linkTo(1)) }))).address).to.equal('12 High Street, Cork');
    });

  for (const amount of [
    '1 850,50 €',
    '₪ 5,200',
    '18,000 Kč',
    'R 12 500',
    'AED 6,000',
    '1,850 euros',
    'Rp 5 juta',
    '€1,500 - €1,850',
    '8.5万円',
    '6 500 zł',
    '£1.2k',
  ])
    it(`takes the amount ${amount} out of the line of an address`, async () => {
      for (const line of [`12 High Street, Cork ${amount} per month`, `${amount} 12 High Street, Cork`])
        expect((await inText(`${line}\r\n€900 per month`)).address, line).to.equal('12 High Street, Cork');
    });
  it('leaves the number of a house before a sign', async () => {
    for (const price of ['€1,850', '€ 1,850', '€1850'])
      expect(await inText(`Bath Avenue, Haus 7 ${price} per month`), price).to.include({ address: 'Bath Avenue, Haus 7', priceMonthly: 1850 });
  });

  it('reads what is nearest before a link, in bounded time', async () => {
    const long = (part: string, length: number) => `€900 per month\r\n${part.repeat(length / part.length)}\r\n€1,850 per month\r\n1 Main St, D02 X285`;
    expect(await inText(long('New flats. ', 30_000))).to.include({ priceMonthly: 1850 });
    await expectLinearTime((parts) => inText(long('123 ', parts * 10_000)));
  });

  it('reads an address of several parts out of a line with a price', async () => {
    for (const line of [
      'Apt 1, The Elms - Ballsbridge, D04 X285 - €1,850 pcm',
      '€1,850 per month - Apt 1, The Elms - Ballsbridge, D04 X285',
      '2 Bed Apartment - Apt 1, The Elms - Ballsbridge, D04 X285 - €1,850 pcm',
      'House | Apt 1, The Elms - Ballsbridge, D04 X285 | €1,850 pcm',
    ])
      expect((await inText(line)).address, line).to.equal('Apt 1, The Elms - Ballsbridge, D04 X285');
    expect((await inText('7 Bath Avenue – Cork – €1,850 pcm – T12 W8K3')).address).to.equal('7 Bath Avenue – Cork T12 W8K3');
  });

  it('takes the address out of a card that is one link, below a badge that is another', async () => {
    const link = (text: string) => `<a href="${linkTo(1)}">${text}</a>`;
    const details = '<p>€1,850 per month</p><p>2 bed | 1 bath</p><p>12 Rice Road, Cork</p><p>RiceLets</p>';
    for (const badge of ['● Active New', 'Coming soon', 'Schedule a tour'])
      expect((await listingIn(alertMail({ html: `<div>${link(badge)}${link(details)}</div>` }))).address, badge).to.equal('12 Rice Road, Cork');
    expect((await listingIn(alertMail({ html: `<div>${link('Just reduced')}€1,850 per month ${link('12 Rice Road, Cork')}</div>` }))).address).to.equal(
      '12 Rice Road, Cork',
    );
  });

  it('takes a count with a plus for the bound of a search where another follows', async () => {
    expect(await inText('Your search: 1+ beds\r\n€1,850 per month\r\n2 bed, 1 bath\r\n12 Rice Road, Cork')).to.include({ beds: 2 });
    expect(await inText('€1,850 per month\r\n3+ bed house\r\n12 Rice Road, Cork')).to.include({ beds: 3 });
  });
});
