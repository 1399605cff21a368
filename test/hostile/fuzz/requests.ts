// Requests for every operation of the API descriptions: valid ones, and mutations of each of their parts.
import fc from 'fast-check';
import { type Sample, samples } from '../../services/webhook-intake/sources/samples.ts';
import type { Operation } from '../operations.ts';
import { type Mutation, mutations } from './mutations.ts';
import { forgePayload, valueOf } from './values.ts';

export type Planned = {
  readonly operation: Operation;
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Undefined where the operation takes none. */
  readonly body: unknown;
  readonly credential: 'held' | 'none' | 'wrong';
  readonly mutations: readonly Mutation[];
};

/** Their header holds the signature of the body: these are deliveries, and their bodies are any object. */
const signature = 'X-Hub-Signature-256';
export const isSigned = ({ parameters }: Operation): boolean => parameters.some(({ name }) => name === signature);

/** A request to an operation for a direct source's webhooks, whose body may be any object, too. */
export const sampleOf = ({ service, path }: Operation): Sample | undefined =>
  samples.find(({ source }) => service === 'webhook-intake' && path === `/${source.name}`);

function planned(operation: Operation): fc.Arbitrary<Planned> {
  const given = (place: string) => {
    const here = operation.parameters.filter((one) => one.in === place);
    const values = Object.fromEntries(here.map(({ name, schema }) => [name, valueOf(schema)]));
    return fc.record(values, { requiredKeys: here.filter(({ required }) => required).map(({ name }) => name) });
  };
  const sample = sampleOf(operation)?.body;
  const hasSchema = sample === undefined && operation.bodySchema !== undefined;
  const delivery = isSigned(operation) ? forgePayload : fc.constant(undefined);
  const body = hasSchema ? valueOf(operation.bodySchema) : fc.constant(sample);
  const credential = fc.oneof(
    { weight: 90, arbitrary: fc.constant('held' as const) },
    { weight: 7, arbitrary: fc.constant('none' as const) },
    { weight: 3, arbitrary: fc.constant('wrong' as const) },
  );
  const changes = fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, { weight: 6, arbitrary: fc.array(mutations, { minLength: 1, maxLength: 3 }) });
  return fc
    .record({ params: given('path'), query: given('query'), headers: given('header'), body, delivery, credential, mutations: changes })
    .map(({ delivery: example, ...rest }) => ({
      ...rest,
      operation,
      body: example?.payload ?? rest.body,
      headers: { ...rest.headers, ...(example && { 'X-GitHub-Event': example.event }) },
    }));
}

/** One request as the operation is described, by someone who may. */
export function plainRequest(operation: Operation, seed: number): Planned {
  const [request] = fc.sample(planned(operation), { seed, numRuns: 1 });
  if (!request) throw new Error(`no request was made for ${operation.path}`);
  return { ...request, credential: 'held', mutations: [] };
}

/** Three in ten are deliveries; the others are spread over all operations. */
export function anyRequest(operations: readonly Operation[]): fc.Arbitrary<Planned> {
  const all = fc.oneof(...operations.map(planned));
  const deliveries = operations.filter(isSigned).map(planned);
  return deliveries.length === 0 ? all : fc.oneof({ weight: 7, arbitrary: all }, { weight: 3, arbitrary: fc.oneof(...deliveries) });
}
