// All SQL of presets.
import knex from 'knex';
import { type Database, statement } from '../../platform/postgres/pool.ts';
import { asMembers, insertRows, namesOf, type RowColumns, rowsStatement } from '../../platform/postgres/rows.ts';
import type { PropertyFilter } from '../property-query.ts';
import { matching } from '../store.ts';
import { type FilterPreset, mostCounted, type NewPreset, type PresetCount } from './contract.ts';

const builder = knex({ client: 'pg' });

const columns: RowColumns<FilterPreset> = {
  id: 'uuid',
  name: 'text',
  routingKeys: 'text[]',
  minBeds: 'int',
  maxBeds: 'int',
  minBaths: 'int',
  minPrice: 'numeric',
  maxPrice: 'numeric',
  propertyTypes: 'text[]',
  berMin: 'text',
  isDefault: 'boolean',
  createdAt: 'timestamptz',
};
const selected = asMembers(columns);

const list = statement<FilterPreset>('presets.list', `select ${selected} from presets order by is_default desc, name collate alphabetical, created_at, id`);
const find = statement<FilterPreset, [id: string]>('presets.find', `select ${selected} from presets where id = $1`);
const remove = statement<unknown, [id: string]>('presets.remove', 'delete from presets where id = $1');

const insert = insertRows<FilterPreset>('presets.insert', { into: 'presets', columns });

type Replacement = NewPreset & Pick<FilterPreset, 'id'>;
const { createdAt: _, ...replaced } = columns;

const replace = rowsStatement<FilterPreset, [presets: readonly Replacement[]]>(
  'presets.replace',
  [replaced],
  (given) => `
  update presets set (${namesOf(replaced)}) = (select ${namesOf(replaced)} from ${given} as given)
  where id in (select id from ${given} as given) returning ${selected}`,
);

// Serialises changes of presets, not reads: of two concurrent new defaults the later one replaces the earlier.
const takeTurn = statement('presets.takeTurn', 'lock table presets in share row exclusive mode');
const unmakeDefault = statement<unknown, [besides: string]>('presets.unmakeDefault', 'update presets set is_default = false where is_default and id <> $1');

/** The listings of the inbox that a preset leaves. */
const filterOf = ({ routingKeys, propertyTypes, minBeds, maxBeds, minBaths, minPrice, maxPrice, berMin }: NewPreset): PropertyFilter => ({
  status: 'inbox',
  routingKeys,
  propertyTypes,
  minBeds: minBeds ?? undefined,
  maxBeds: maxBeds ?? undefined,
  minBaths: minBaths ?? undefined,
  minPrice: minPrice ?? undefined,
  maxPrice: maxPrice ?? undefined,
  berMin: berMin ?? undefined,
});

/** Counts as one statement, each up to a bound. */
function countsOf(presets: readonly FilterPreset[]) {
  const counts = presets.map(({ id, ...preset }) => {
    const left = matching(filterOf(preset));
    return builder.select(builder.raw('?::uuid as id', [id]), builder.raw('count(*) as count')).from(left.select('id').limit(mostCounted.listings).as('each'));
  });
  return builder.unionAll(counts, true);
}

export type PresetStore = ReturnType<typeof createPresetStore>;

export const createPresetStore = (database: Database) => ({
  /** The default first. */
  list: () => database.all(list),
  find: (id: string) => database.first(find, id),
  /** In the order of the list. */
  async counts(): Promise<PresetCount[]> {
    const presets = (await database.all(list)).slice(0, mostCounted.presets);
    return presets.length === 0 ? [] : database.select<PresetCount>(countsOf(presets));
  },
  async insert(preset: FilterPreset): Promise<FilterPreset> {
    await database.transaction(async (inTransaction) => {
      await inTransaction.run(takeTurn);
      if (preset.isDefault) await inTransaction.run(unmakeDefault, preset.id);
      await inTransaction.run(insert, [preset]);
    });
    return preset;
  },
  /** Undefined when no preset has the id; then nothing has changed. */
  replace: (id: string, preset: NewPreset) =>
    database.transaction(async (inTransaction) => {
      await inTransaction.run(takeTurn);
      const isThere = (await inTransaction.first(find, id)) !== undefined;
      if (isThere && preset.isDefault) await inTransaction.run(unmakeDefault, id);
      return inTransaction.first(replace, [{ ...preset, id }]);
    }),
  remove: async (id: string) => (await database.run(remove, id)) > 0,
});
