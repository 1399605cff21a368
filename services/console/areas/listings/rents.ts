// Rents: how many listings there are by rent, and what each routing key costs.
import { h } from '../../view/elements.ts';
import { PropertyPage, PropertyStatus } from '../../../listings/contract.ts';
import { PriceHistogram, PropertyFacets } from '../../../listings/overview/contract.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import { page } from '../../pages.ts';
import { partOf } from '../../parts.ts';
import { filterForm } from '../../view/filters.ts';
import type { Locale } from '../../view/locale.ts';
import { withQuery } from '../../view/pager.ts';
import { type Bar, bars } from '../../view/plots.ts';
import { pageHead } from '../../view/shell.ts';
import { filterFields, FilteredQuery, type FilterQuery, noPreset, ownFilters, statusField } from './filters.ts';
import { areaTabs } from './tabs.ts';

const path = '/listings/rents';
const mostBuckets = 24;
/** More bars would be too narrow for their labels. */
const shownKeys = 20;
const lists = { inbox: '/listings', approved: '/listings/approved', recycled: '/listings/recycled' } as const;

const show = page({
  path,
  area: 'listings',
  query: FilteredQuery.extend({ status: PropertyStatus.optional().catch(undefined) }),
  async show({ locale, query, ask }) {
    const { listings } = locale.t;
    const filter = ownFilters(query);
    const status = query.status ?? 'inbox';
    const asked = { ...filter, status };
    const [histogram, { facets }, some] = await Promise.all([
      ask('listings').get('/api/properties/histogram', PriceHistogram, { ...asked, buckets: mostBuckets }),
      ask('listings').get('/api/properties/facets', PropertyFacets, asked),
      partOf(ask('listings').get('/api/properties', PropertyPage, { ...asked, limit: 1, total: false })),
    ]);
    // The service counts amounts, whatever their currency; listings of one search have the same.
    const currency = some.value?.items[0]?.currency;
    const money = (amount: number) => (currency === undefined ? locale.format.number(amount) : locale.format.money(amount, currency));
    const listWith = (more: FilterQuery) => withQuery(lists[status], { ...filter, preset: noPreset, ...more });
    const { rents } = listings;
    return {
      title: rents.title,
      body: [
        pageHead({
          title: rents.title,
          lead: histogram.medianPrice === null ? rents.none : rents.lead(histogram.counted, money(histogram.medianPrice)),
        }),
        areaTabs(locale, 'rents'),
        filterForm(locale, {
          path,
          query: { ...filter, status: query.status },
          filters: [...filterFields(locale, filter), statusField(locale)],
        }),
        h(
          'div',
          { class: 'plots' },
          bars(locale, { id: 'rents', title: rents.histogram, description: rents.histogramText }, rentBars(money, histogram, listWith)),
          bars(locale, { id: 'keys', title: rents.median, description: rents.medianText, format: money }, keyBars(locale, facets.routingKey, listWith)),
        ),
      ],
    };
  },
});

type LinkTo = (more: FilterQuery) => string;

function rentBars(money: (amount: number) => string, { buckets }: AnswerOf<typeof PriceHistogram>, linkTo: LinkTo): Bar[] {
  const last = buckets.length - 1;
  return buckets.map(({ from, below, count }, index) => ({
    label: `${money(from)}–${money(below)}`,
    tick: [0, Math.floor(last / 2), last].includes(index) ? money(from) : undefined,
    value: count,
    href: count > 0 ? linkTo({ minPrice: String(from), maxPrice: String(below - 0.01) }) : undefined,
  }));
}

const keyBars = ({ format }: Locale, keys: AnswerOf<typeof PropertyFacets>['facets']['routingKey'], linkTo: LinkTo): Bar[] =>
  keys
    .slice(0, shownKeys)
    .toSorted((one, other) => other.medianPrice - one.medianPrice)
    .map(({ value, count, medianPrice }) => ({
      label: `${value} (${format.number(count)})`,
      tick: value,
      value: medianPrice,
      href: linkTo({ routingKeys: value }),
    }));

export const rentPages = [show];
