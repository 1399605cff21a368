// A delivery as the forge sends it.
import { createHmac } from 'node:crypto';

type Parts = { readonly event: string; readonly deliveryId: string; readonly secret: string };

export const deliveryPath = '/Forge';

export const deliveryHeaders = (body: string | Buffer, { event, deliveryId, secret }: Parts): Readonly<Record<string, string>> => ({
  'Content-Type': 'application/json',
  'User-Agent': 'GitHub-Hookshot/0000000',
  'X-GitHub-Delivery': deliveryId,
  'X-GitHub-Event': event,
  'X-GitHub-Hook-ID': '292430182',
  'X-GitHub-Hook-Installation-Target-ID': '79929171',
  'X-GitHub-Hook-Installation-Target-Type': 'repository',
  'X-Hub-Signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
});
