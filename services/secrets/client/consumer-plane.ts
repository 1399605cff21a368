// The consumer plane for a client: what an application may read with its own key.
import { TimestampInput as Time } from '../../platform/schema.ts';
import * as contract from '../contract.ts';
import { type ClientOptions, createCalls, path } from './transport.ts';

const ConsumerSecret = contract.ConsumerSecret.extend({
  properties: contract.ConsumerSecret.shape.properties.extend({
    expiresOn: Time.nullable(),
    notBefore: Time.nullable(),
    createdOn: Time,
    updatedOn: Time.nullable(),
  }),
});

/** What an application may read with its own key. */
export function createConsumerClient(options: ClientOptions) {
  const { get } = createCalls(options, { 'x-api-key': options.credential });
  const within = (environment: string) => `?environment=${encodeURIComponent(environment)}`;
  return {
    secret: (name: string, environment: string) => get(path('/api/consumer/secrets', name) + within(environment), ConsumerSecret),
    configurations: async (environment: string) =>
      (await get(path('/api/consumer/configurations') + within(environment), contract.ConsumerConfigurations)).items,
    configuration: (key: string, environment: string) => get(path('/api/consumer/configurations', key) + within(environment), contract.ConsumerConfiguration),
  };
}
export type ConsumerClient = ReturnType<typeof createConsumerClient>;
