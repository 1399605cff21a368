// Presets are named filters, at most one of which is the default: routes and rules.
import { v7 as newId } from 'uuid';
import { z } from 'zod';
import { answer, route } from '../../platform/http/route.ts';
import { isGuid } from '../../platform/schema.ts';
import { Problems } from '../contract.ts';
import { FilterPreset, mostCounted, NewPreset, PresetCount } from './contract.ts';
import type { PresetStore } from './store.ts';

const ById = z.object({ id: z.string().meta({ description: 'The id of the preset' }) });

const found = <T>(preset: T | undefined): T => {
  if (!preset) throw Problems.presetMissing();
  return preset;
};

export const presetRoutes = (store: PresetStore, clock: () => Date) => [...readingRoutes(store), ...writingRoutes(store, clock)];

const readingRoutes = (store: PresetStore) => [
  route({
    method: 'get',
    path: '/api/presets',
    operationId: 'listPresets',
    summary: 'The presets: the default first, the others by name',
    description: 'Presets of one name are sorted by their time.',
    answers: { 200: z.array(FilterPreset) },
    handle: () => store.list(),
  }),
  route({
    method: 'get',
    path: '/api/presets/counts',
    operationId: 'countPresets',
    summary: `How many listings of the inbox each preset leaves, in the order of the presets: the first ${mostCounted.presets}`,
    description: `A count goes up to ${mostCounted.listings}.`,
    answers: { 200: z.array(PresetCount) },
    handle: () => store.counts(),
  }),
  route({
    method: 'get',
    path: '/api/presets/{id}',
    operationId: 'getPreset',
    summary: 'One preset',
    description: 'The `Location` of a created preset leads here.',
    params: ById,
    answers: { 200: FilterPreset },
    problems: [Problems.presetMissing],
    handle: async ({ params: { id } }) => found(isGuid(id) ? await store.find(id) : undefined),
  }),
];

const writingRoutes = (store: PresetStore, clock: () => Date) => [
  route({
    method: 'post',
    path: '/api/presets',
    operationId: 'createPreset',
    summary: 'Adds a preset; a new default takes the place of the old one',
    description: 'Unknown grades, types and routing keys are refused, and so is a lower bound above its upper bound.',
    body: NewPreset,
    answers: { 201: FilterPreset },
    async handle({ body }) {
      const preset = await store.insert({ ...body, id: newId(), createdAt: clock() });
      return answer(201, preset, { Location: `/api/presets/${preset.id}` });
    },
  }),
  route({
    method: 'put',
    path: '/api/presets/{id}',
    operationId: 'replacePreset',
    summary: 'Replaces a preset, which keeps its id and when it was made',
    description: 'All members are replaced; a member that is left out returns to its default.',
    params: ById,
    body: NewPreset,
    answers: { 200: FilterPreset },
    problems: [Problems.presetMissing],
    handle: async ({ params: { id }, body }) => found(isGuid(id) ? await store.replace(id, body) : undefined),
  }),
  route({
    method: 'delete',
    path: '/api/presets/{id}',
    operationId: 'deletePreset',
    summary: 'Deletes a preset',
    description: 'Deleting the default preset leaves no default.',
    params: ById,
    answers: { 204: null },
    problems: [Problems.presetMissing],
    async handle({ params: { id } }) {
      const isDeleted = isGuid(id) && (await store.remove(id));
      if (!isDeleted) throw Problems.presetMissing();
      return answer(204, null);
    },
  }),
];
