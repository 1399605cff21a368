// The state of a Vault, which needs no token: probes, Spring Boot, Terraform's provider and Vault's operator ask for it first.
import { z } from 'zod';
import type { Health } from '../../platform/health.ts';
import { answer, type AnyRoute, route } from '../../platform/http/route.ts';
import { version } from '../../platform/version.ts';

const VaultState = z
  .looseObject({
    initialized: z.boolean().describe('Always true'),
    sealed: z.boolean().describe('Whether the service is not ready'),
    version: z.string().describe('The release of Signalbox'),
  })
  .meta({ id: 'VaultState', description: 'Whether secrets can be read.' });

const VaultLeader = z
  .looseObject({ ha_enabled: z.boolean().describe('Always false') })
  .meta({ id: 'VaultLeader', description: 'Whether replicas have a leader.' });

/** Members of both answers of Vault: clients require some of either. */
async function stateOf(health: Health, clock: () => Date) {
  const sealed = (await health.readiness()).status === 'unready';
  const ofHealth = { standby: false, performance_standby: false, replication_performance_mode: 'disabled', replication_dr_mode: 'disabled' };
  const ofSeal = { type: 'shamir', t: 1, n: 1, progress: 0, nonce: '', migration: false, recovery_seal: false };
  return { initialized: true, sealed, version, server_time_utc: Math.floor(clock().getTime() / 1000), ...ofHealth, ...ofSeal };
}

export const vaultStateRoutes = (health: Health, clock: () => Date): AnyRoute[] => [
  route({
    method: 'get',
    path: '/v1/sys/health',
    operationId: 'vaultGetHealth',
    access: 'open',
    summary: 'Readiness, in the form of Vault',
    description: '503 and `sealed` while the service is not ready.',
    answers: { 200: VaultState, 503: VaultState },
    async handle() {
      const state = await stateOf(health, clock);
      return state.sealed ? answer(503, state) : answer(200, state);
    },
  }),
  route({
    method: 'get',
    path: '/v1/sys/seal-status',
    operationId: 'vaultGetSealStatus',
    access: 'open',
    summary: 'The same with 200',
    description: '`sealed` while the service is not ready.',
    answers: { 200: VaultState },
    handle: () => stateOf(health, clock),
  }),
  route({
    method: 'get',
    path: '/v1/sys/init',
    operationId: 'vaultGetInitialization',
    access: 'open',
    summary: 'Whether it is initialized, which it always is',
    answers: { 200: VaultState.pick({ initialized: true }).meta({ id: 'VaultInitialization', description: 'Whether it is initialized.' }) },
    handle: () => ({ initialized: true }),
  }),
  route({
    method: 'get',
    path: '/v1/sys/leader',
    operationId: 'vaultGetLeader',
    access: 'open',
    summary: 'The leader, which there is none of',
    description: 'Answers `vault status`, which asks for it: each replica answers all requests.',
    answers: { 200: VaultLeader },
    handle: () => ({ ha_enabled: false, is_self: false, leader_address: '', leader_cluster_address: '', performance_standby: false }),
  }),
];
