// Events of listings: new ones, changed rents and withdrawn ones, with the presets that they match. Pure, but for reading the presets.
import type { OwnEvent } from '../platform/events/events.ts';
import { gradesFrom, type Property } from './contract.ts';
import type { FilterPreset } from './presets/contract.ts';
import type { StoredProperty } from './store.ts';

/** A listing before and after a change; without `before` it is new. */
export type Change = { readonly before: StoredProperty | undefined; readonly after: StoredProperty; readonly at: Date };

/** @param readPresets called only when there is an event @returns the events of each change, in their order */
export async function eventsOf(changes: readonly Change[], readPresets: () => Promise<readonly FilterPreset[]>): Promise<OwnEvent[]> {
  const kinds = changes.map(kindsOf);
  if (kinds.every((of) => of.length === 0)) return [];
  const presets = await readPresets();
  return changes.flatMap((change, index) => (kinds[index] ?? []).map((kind) => eventOf(kind, change, presets)));
}

type Kind = 'created' | 'price_changed' | 'withdrawn';

function kindsOf({ before, after }: Change): readonly Kind[] {
  // A listing that is off the market as it comes is no news.
  if (!before) return after.withdrawnAt ? [] : ['created'];
  const isOtherPrice = before.priceMonthly !== after.priceMonthly || before.currency !== after.currency;
  return [...(isOtherPrice ? (['price_changed'] as const) : []), ...(after.withdrawnAt && !before.withdrawnAt ? (['withdrawn'] as const) : [])];
}

function eventOf(kind: Kind, { before, after, at }: Change, presets: readonly FilterPreset[]): OwnEvent {
  const { id, sourceId, sourceUrl: url, address, eircode, routingKey, priceMonthly, currency, beds, baths, propertyType, berRating, status } = after;
  const matching = presets.filter((preset) => isMatched(preset, after));
  const names = matching.map(({ name }) => name).join(', ');
  const facts = `${rentOf(after)}, ${beds === 0 ? '' : `${beds} ${beds === 1 ? 'bed' : 'beds'}, `}${propertyType}`;
  return {
    type: `listing.${kind}`,
    object: id,
    data: {
      title: `${titleOf(kind, before, after)}: ${address}`,
      text: `${kind === 'price_changed' && before ? `${rentOf(before)} before, now ` : ''}${facts}.${names === '' ? '' : ` Matches ${names}.`}`,
      url,
      isFailure: false,
      id,
      sourceId,
      address,
      eircode,
      routingKey,
      priceMonthly,
      currency,
      beds,
      baths,
      propertyType,
      berRating,
      status,
      ...(kind === 'price_changed' && before && priceChange(before, after)),
      ...(kind === 'withdrawn' && { receivedAt: after.receivedAt }),
      presets: matching.map((preset) => preset.id),
      presetNames: matching.map((preset) => preset.name),
    },
    at,
  };
}

const titles: Readonly<Record<Kind, string>> = { created: 'New listing', price_changed: 'Other rent', withdrawn: 'Withdrawn' };

function titleOf(kind: Kind, before: Priced | undefined, after: Priced): string {
  if (kind !== 'price_changed' || before?.currency !== after.currency) return titles[kind];
  return after.priceMonthly < before.priceMonthly ? 'Lower rent' : 'Higher rent';
}

type Priced = Pick<Property, 'priceMonthly' | 'currency'>;
const rentOf = ({ priceMonthly, currency }: Priced) => `${currency} ${priceMonthly.toLocaleString('en', { maximumFractionDigits: 2 })} a month`;
const priceChange = (before: Priced, after: Priced) => ({
  previousPrice: before.priceMonthly,
  previousCurrency: before.currency,
  isCheaper: before.currency === after.currency && after.priceMonthly < before.priceMonthly,
});

/** As the list of listings filters by these values: bounds are inclusive, and a listing without a grade passes. */
export function isMatched(preset: FilterPreset, listing: StoredProperty): boolean {
  const { routingKeys, minBeds, maxBeds, minBaths, minPrice, maxPrice, propertyTypes, berMin } = preset;
  const { routingKey, beds, baths, priceMonthly, propertyType, berRating } = listing;
  return (
    (routingKeys.length === 0 || (routingKey !== null && routingKeys.includes(routingKey))) &&
    (propertyTypes.length === 0 || propertyTypes.includes(propertyType)) &&
    isWithin(beds, minBeds, maxBeds) &&
    isWithin(baths, minBaths, null) &&
    isWithin(priceMonthly, minPrice, maxPrice) &&
    (berMin === null || berRating === null || gradesFrom(berMin).includes(berRating))
  );
}

const isWithin = (value: number, least: number | null, most: number | null) => (least === null || value >= least) && (most === null || value <= most);
