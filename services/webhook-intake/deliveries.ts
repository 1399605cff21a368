// One delivery: all that the intake knows of it, and another delivery by the forge. Routes and rules.
import { z } from 'zod';
import { isGiteaApi } from '../forges/gitea.ts';
import { answer, type AnyRoute, route } from '../platform/http/route.ts';
import type { Secret } from '../platform/config/secret.ts';
import type { Database } from '../platform/postgres/pool.ts';
import { Common } from '../platform/problem.ts';
import { usualMaxPayloadValues } from '../webhook-relay/contract.ts';
import { type Event, Problems } from './contract.ts';
import { DeliveryTrace, Redelivery } from './dashboard/contract.ts';
import { notificationsOf } from './dashboard/outbox.ts';
import type { DeadLetters } from './dead-letters.ts';
import { createForgeApi, RateLimited } from './jobs/forge-api.ts';
import { createReplayStore } from './replay/store.ts';
import { forgeSource, readStored } from './replay/stored-delivery.ts';
import { createTraceStore } from './trace.ts';
import { rowsOf, type TypedRow } from './typed/store.ts';

const mostBytes = 4 * 1024 * 1024;
const redeliveryMs = 20_000;

/** The API of the forge by the settings, and the webhooks whose deliveries it lists. */
export type ForgeAccess = { readonly url: string; readonly token: Secret | undefined; readonly hooks: readonly string[] };

type DeliveriesParts = {
  readonly database: Database;
  readonly deadLetters: Pick<DeadLetters, 'about'>;
  readonly forge: ForgeAccess | undefined;
  readonly clock: () => Date;
};

export type Deliveries = ReturnType<typeof createDeliveries>;

export function createDeliveries({ database, deadLetters, forge, clock }: DeliveriesParts) {
  const traces = createTraceStore(database);
  const replays = createReplayStore(database);

  async function rowsOfEvents(events: readonly Event[]): Promise<TypedRow[] | null> {
    const event = events.find(({ source, bytes }) => source === forgeSource && bytes <= mostBytes);
    const [stored] = event ? await replays.read([{ eventId: event.id, receivedAt: event.receivedAt }]) : [];
    if (!stored) return null;
    const { forgeEvent } = await readStored(stored, [], usualMaxPayloadValues);
    return forgeEvent ? rowsOf(database, forgeEvent) : null;
  }

  return {
    async trace(id: string) {
      const { events, keys, duplicates, tracked } = await traces.of(id);
      const known = new Set(events.map(({ id: event }) => event));
      const dead = await deadLetters.about(events[0]?.deliveryId ?? id);
      return {
        events,
        deletedAt: keys.filter(({ eventId }) => !known.has(eventId)).map(({ storedAt }) => storedAt),
        duplicates,
        trackedAt: tracked,
        rows: await rowsOfEvents(events),
        isRedeliverable: usable(forge) !== undefined && (events.length === 0 || events.some(({ source }) => source === forgeSource)),
        notifications: await notificationsOf(database, [...known]),
        deadLetters: dead.items,
        connections: dead.connections,
      };
    },

    /** @throws Problem 404 where no webhook has made it, 409 where the forge has no such API, 503 at its rate limit */
    async redeliver(id: string, left: AbortSignal) {
      const { events } = await traces.of(id);
      const event = events.find(({ source }) => source === forgeSource);
      const { url, token, hooks } = requireApi(forge);
      const deliveryId = event?.deliveryId ?? id;
      const its = hooks.filter((hook) => hook.endsWith(`/hooks/${event?.hookId ?? ''}`));
      const api = createForgeApi({ url, token, clock });
      const deadline = AbortSignal.any([left, AbortSignal.timeout(redeliveryMs)]);
      try {
        for (const hook of its.length > 0 ? its : hooks)
          for await (const page of api.deliveries(hook, deadline)) {
            const attempt = page.find(({ guid }) => guid === deliveryId);
            if (!attempt) continue;
            if (await api.redeliver(hook, attempt.id, deadline)) return { deliveryId, hook };
            throw Problems.redeliveryUnavailable({ detail: 'The forge refuses: the delivery is older than it redelivers, or gone.' });
          }
      } catch (error) {
        if (error instanceof RateLimited || deadline.aborted)
          throw Common.unavailable({ detail: 'The forge did not answer in time, or its rate limit is used up.', headers: { 'Retry-After': '60' } });
        throw error;
      }
      throw Problems.deliveryMissing({ detail: `None of ${hooks.join(', ')} has it among the deliveries that the forge keeps.` });
    },
  };
}

/** The API that can be asked to deliver again, with the webhooks to ask for. */
function usable(forge: ForgeAccess | undefined) {
  if (!forge?.token || forge.hooks.length === 0 || isGiteaApi(forge.url)) return undefined;
  return { url: forge.url, token: forge.token, hooks: forge.hooks };
}

/** @throws Problem 409 that says what is missing */
function requireApi(forge: ForgeAccess | undefined) {
  const unavailable = (detail: string) => Problems.redeliveryUnavailable({ detail });
  const found = usable(forge);
  if (found) return found;
  if (forge && isGiteaApi(forge.url))
    throw unavailable('Gitea and Forgejo have no API of deliveries: use the replay button of the webhook, or reconciliation.');
  throw unavailable(forge?.token === undefined ? 'Forge__ApiToken is not set.' : 'Forge__ApiHooks names no webhook.');
}

const DeliveryPath = z.object({ deliveryId: z.string().meta({ description: "The id of the forge, or of the relay's answer" }) });

export const deliveryRoutes = (deliveries: Deliveries): AnyRoute[] => [
  route({
    method: 'get',
    path: '/api/v1/trace/{deliveryId}',
    operationId: 'traceDelivery',
    summary: 'All that the intake knows of a delivery',
    description:
      'Its events and repeats, the rows and messages that it led to, and its dead letters. A delivery that is not known has empty lists: it may wait in a queue.',
    params: DeliveryPath,
    answers: { 200: DeliveryTrace },
    handle: ({ params }) => deliveries.trace(params.deliveryId),
  }),
  route({
    method: 'post',
    path: '/api/v1/deliveries/{deliveryId}/redeliver',
    operationId: 'redeliverDelivery',
    summary: 'Asks the forge to make a delivery again',
    description: 'By the API of GitHub, with `Forge__ApiToken` and `Forge__ApiHooks`. Gitea and Forgejo have no such API: 409.',
    params: DeliveryPath,
    answers: { 202: Redelivery },
    problems: [Problems.deliveryMissing, Problems.redeliveryUnavailable],
    handle: async ({ params, left }) => answer(202, await deliveries.redeliver(params.deliveryId, left())),
  }),
];
