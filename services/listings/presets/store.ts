// All SQL of presets.
import { type Database, statement } from '../../platform/postgres/pool.ts';
import type { FilterPreset, NewPreset } from '../contract.ts';

const columns = `id, name, routing_keys as "routingKeys", min_beds as "minBeds", max_beds as "maxBeds", min_baths as "minBaths",
  min_price as "minPrice", max_price as "maxPrice", property_types as "propertyTypes", ber_min as "berMin", is_default as "isDefault",
  created_at as "createdAt"`;

const list = statement<FilterPreset>('presets.list', `select ${columns} from presets order by is_default desc, name, created_at, id`);
const find = statement<FilterPreset, [id: string]>('presets.find', `select ${columns} from presets where id = $1`);
const remove = statement<unknown, [id: string]>('presets.remove', 'delete from presets where id = $1');

const writable = 'name, routing_keys, min_beds, max_beds, min_baths, min_price, max_price, property_types, ber_min, is_default';

const insert = statement<FilterPreset, [id: string, createdAt: Date, ...ReturnType<typeof valuesOf>]>(
  'presets.insert',
  `insert into presets (id, created_at, ${writable}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) returning ${columns}`,
);
const replace = statement<FilterPreset, [id: string, ...ReturnType<typeof valuesOf>]>(
  'presets.replace',
  `update presets set (${writable}) = ($2, $3, $4, $5, $6, $7, $8, $9, $10, $11) where id = $1 returning ${columns}`,
);

// Changes of presets take turns, readers go on: of two new defaults the later one unmakes the earlier.
const takeTurn = statement('presets.takeTurn', 'lock table presets in share row exclusive mode');
const unmakeDefault = statement<unknown, [besides: string]>('presets.unmakeDefault', 'update presets set is_default = false where is_default and id <> $1');

const valuesOf = (preset: NewPreset) =>
  [
    ...([preset.name, preset.routingKeys, preset.minBeds, preset.maxBeds, preset.minBaths] as const),
    ...([preset.minPrice, preset.maxPrice, preset.propertyTypes, preset.berMin, preset.isDefault] as const),
  ] as const;

export type PresetStore = ReturnType<typeof createPresetStore>;

export const createPresetStore = (database: Database) => ({
  /** The default first. */
  list: () => database.all(list),
  find: (id: string) => database.first(find, id),
  async insert(preset: FilterPreset): Promise<FilterPreset> {
    await database.transaction(async (inTransaction) => {
      await inTransaction.run(takeTurn);
      if (preset.isDefault) await inTransaction.run(unmakeDefault, preset.id);
      await inTransaction.run(insert, preset.id, preset.createdAt, ...valuesOf(preset));
    });
    return preset;
  },
  /** Undefined when there is none of this id, and then nothing has changed. */
  replace: (id: string, preset: NewPreset) =>
    database.transaction(async (inTransaction) => {
      await inTransaction.run(takeTurn);
      const isThere = (await inTransaction.first(find, id)) !== undefined;
      if (isThere && preset.isDefault) await inTransaction.run(unmakeDefault, id);
      return inTransaction.first(replace, id, ...valuesOf(preset));
    }),
  remove: async (id: string) => (await database.run(remove, id)) > 0,
});
