// A typed client for both planes of the secrets service; what other deployables import of it.
export { type ConsumerClient, createConsumerClient } from './client/consumer-plane.ts';
export { NoAnswer, Refusal } from './client/failures.ts';
export { createManagementClient, type ManagementClient } from './client/management-plane.ts';
export type { ClientOptions } from './client/transport.ts';
