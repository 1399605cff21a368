// Filters of listings as the address has them: those of a preset, or those that a person has set.
import { z } from 'zod';
import { energyGrades, propertyTypes } from '../../../listings/contract.ts';
import { FilterPreset } from '../../../listings/presets/contract.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import type { Query } from '../../upstream/client.ts';
import type { Filter } from '../../view/filters.ts';
import type { Locale } from '../../view/locale.ts';

export const Presets = z.array(FilterPreset);
export type Preset = AnswerOf<typeof FilterPreset>;

const text = z.string().optional();
/** Members of the address that the API of listings takes under the same names. */
const filters = {
  search: text,
  routingKeys: text,
  propertyTypes: text,
  minBeds: text,
  maxBeds: text,
  minBaths: text,
  minPrice: text,
  maxPrice: text,
  berMin: text,
  priceDropped: text,
};
export const filterNames = Object.keys(filters);
export type FilterQuery = Readonly<Record<string, string | undefined>>;

export const sorts = ['receivedAt-desc', 'price-asc', 'price-desc', 'beds-desc'] as const;

/** `preset` is the id of a preset, or `none`. Without it and without filters the default preset counts. */
export const FilteredQuery = z.object({ ...filters, preset: text });
export const ListQuery = FilteredQuery.extend({
  sort: z.enum(sorts).optional().catch(undefined),
  view: z.literal('rows').optional().catch(undefined),
  after: text,
});
export const noPreset = 'none';

export type Chosen = {
  /** Undefined where the filters are a person's own. */
  readonly preset: Preset | undefined;
  /** The API is asked with it, and the form shows it. */
  readonly filter: FilterQuery;
};

/** Filters of the address replace those of a preset altogether: a form shows what is in force. */
export function chosenBy(query: z.output<typeof FilteredQuery>, presets: readonly Preset[]): Chosen {
  const own = ownFilters(query);
  const isOwn = Object.keys(own).length > 0;
  const preset = query.preset === undefined && !isOwn ? presets.find(({ isDefault }) => isDefault) : presets.find(({ id }) => id === query.preset);
  return preset && !isOwn ? { preset, filter: filterOf(preset) } : { preset: undefined, filter: own };
}

export const ownFilters = (query: FilterQuery): FilterQuery =>
  Object.fromEntries(filterNames.flatMap((name) => (query[name] === undefined || query[name] === '' ? [] : [[name, query[name]]])));

export function filterOf({ routingKeys, propertyTypes: types, minBeds, maxBeds, minBaths, minPrice, maxPrice, berMin }: Preset): FilterQuery {
  return ownFilters({
    routingKeys: routingKeys.join(','),
    propertyTypes: types.join(','),
    berMin: berMin ?? undefined,
    minBeds: minBeds?.toString(),
    maxBeds: maxBeds?.toString(),
    minBaths: minBaths?.toString(),
    minPrice: minPrice?.toString(),
    maxPrice: maxPrice?.toString(),
  });
}

/** The order of the API by that of the address. */
export function orderOf(sort: (typeof sorts)[number] | undefined): Query {
  const [sortBy, sortDir] = (sort ?? sorts[0]).split('-');
  return { sortBy, sortDir };
}

/** The fields of the form; a preset may leave several types, which stay together as one choice. */
export function filterFields({ t }: Locale, { propertyTypes: types = '' }: FilterQuery): Filter[] {
  const { filters: words, types: typeNames } = t.listings;
  const several = types.includes(',')
    ? [
        {
          value: types,
          label: types
            .split(',')
            .map((type) => typeNameOf(typeNames, type))
            .join(', '),
        },
      ]
    : [];
  return [
    { kind: 'search', name: 'search', label: words.search },
    { kind: 'text', name: 'routingKeys', label: words.routingKeys },
    { kind: 'number', name: 'minPrice', label: words.minPrice },
    { kind: 'number', name: 'maxPrice', label: words.maxPrice },
    { kind: 'number', name: 'minBeds', label: words.minBeds },
    { kind: 'number', name: 'maxBeds', label: words.maxBeds },
    { kind: 'number', name: 'minBaths', label: words.minBaths },
    {
      kind: 'choice',
      name: 'propertyTypes',
      label: words.propertyType,
      options: [...propertyTypes.map((value) => ({ value, label: typeNames[value] })), ...several],
    },
    { kind: 'choice', name: 'berMin', label: words.berMin, options: energyGrades.map((value) => ({ value, label: value })) },
    { kind: 'choice', name: 'priceDropped', label: words.price, options: [{ value: 'true', label: words.dropped }] },
  ];
}

const typeNameOf = (names: Readonly<Record<string, string>>, type: string) => names[type] ?? type;

/** Filters in words, for the list of presets. */
export function inWords({ t, format }: Locale, preset: Preset): string {
  const { words, types } = t.listings;
  const range = (least: number | null, most: number | null, unit: string) =>
    least === null && most === null ? [] : [`${least === null ? '' : format.number(least)}–${most === null ? '' : format.number(most)} ${unit}`];
  return [
    preset.routingKeys.join(', '),
    ...range(preset.minBeds, preset.maxBeds, words.beds),
    ...range(preset.minBaths, null, words.baths),
    ...range(preset.minPrice, preset.maxPrice, words.rent),
    preset.propertyTypes.map((type) => types[type]).join(', '),
    preset.berMin === null ? '' : `${words.ber} ${preset.berMin}`,
  ]
    .filter((part) => part !== '')
    .join(' · ');
}

/** The status of maps and plots, which have listings of each; the inbox unless chosen. */
export const statusField = ({ t }: Locale): Filter => ({
  kind: 'choice',
  name: 'status',
  label: t.listings.words.status,
  any: t.listings.statuses.inbox,
  options: (['approved', 'recycled'] as const).map((value) => ({ value, label: t.listings.statuses[value] })),
});
