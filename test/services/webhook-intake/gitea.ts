// Deliveries of a real Gitea as the relay publishes them.
import { forgeIdOf, readIdentity, translate } from '../../../services/forges/forges.ts';
import type { Delivery } from '../../../services/platform/broker/broker.ts';
import { textAt } from '../../../services/platform/json.ts';
import { messageHeaders } from '../../../services/webhook-relay/contract.ts';
import { giteaDelivery } from '../forges/deliveries.ts';
import { delivery } from './deliveries.ts';

/** @param change of the payload, before the relay has it */
export function giteaMessage(name: string, receivedAt: Date, change?: (payload: object) => object): Delivery {
  const { headers, payload: sent } = giteaDelivery(name);
  const payload = change?.(Object(sent)) ?? sent;
  const identity = readIdentity(headers);
  const { forge, deliveryId } = identity;
  const translated = translate(forge, identity, payload);
  const action = textAt(translated.payload, 'action');
  return delivery({
    event: translated.event,
    payload,
    // Another payload is another delivery.
    ...(change === undefined && { deliveryId }),
    hookId: '0',
    targetId: '0',
    receivedAt,
    headers: {
      [messageHeaders.forge]: forge.kind,
      [messageHeaders.forgeId]: forgeIdOf(forge, payload, identity.host),
      [messageHeaders.originalEvent]: identity.event,
      ...(action !== undefined && { [messageHeaders.action]: action }),
      [messageHeaders.originalAction]: textAt(payload, 'action') ?? '',
    },
  });
}
