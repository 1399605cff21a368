// A delivery as a command: the same bytes and headers once more, to a relay or an intake of one's own.
import { textAt } from '../../../platform/json.ts';
import { messageHeaders } from '../../../webhook-relay/contract.ts';
import { quoted } from '../../view/details.ts';
import type { ShownEvent } from './event-filter.ts';

/** Longer ones are read from the file that the raw payload is saved as. */
const mostInlineCharacters = 8000;

export const payloadFile = (id: string): string => `event-${id}.json`;

const forgeHeaders = { github: 'X-GitHub', gitea: 'X-Gitea', forgejo: 'X-Forgejo' } as const;

type Delivered = Pick<ShownEvent, 'id' | 'source' | 'event' | 'originalEvent' | 'deliveryId'> & { readonly headers: Readonly<Record<string, string>> };

/** @param payload as it was received; undefined where it is too large for a page. The signature is made of the secret in WEBHOOK_SECRET. */
export function curlOf({ id, source, event, originalEvent, deliveryId, headers }: Delivered, payload: string | undefined): string {
  const isForge = source === 'forge';
  const forge = textAt(headers, messageHeaders.forge);
  const prefix = forge === 'gitea' || forge === 'forgejo' ? forgeHeaders[forge] : forgeHeaders.github;
  const own = isForge ? { [`${prefix}-Event`]: originalEvent ?? event, [`${prefix}-Delivery`]: deliveryId } : headers;
  const sent = Object.entries({ 'Content-Type': 'application/json', ...own }).filter(([name]) => !/^(host|content-length|connection)$/i.test(name));
  const isInline = payload !== undefined && payload.length <= mostInlineCharacters;
  const file = payloadFile(id);
  const lines = [
    'curl --request POST "$WEBHOOK_URL"',
    ...sent.map(([name, value]) => `--header ${quoted(`${name}: ${value}`)}`),
    ...(isForge ? [`--header "X-Hub-Signature-256: sha256=$(openssl dgst -sha256 -hmac "$WEBHOOK_SECRET" ${file} | cut -d' ' -f2)"`] : []),
    `--data-binary @${file}`,
  ];
  const save = isInline ? `printf %s ${quoted(payload)} > ${file}\n` : '';
  return save + lines.join(' \\\n  ');
}
