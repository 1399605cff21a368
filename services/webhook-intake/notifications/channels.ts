// The channels of notifications. A new one is a file beside this one and a line here.
import type { Channel } from './channel.ts';
import { push } from './push.ts';
import { smtp } from './smtp.ts';
import { webhook } from './webhook.ts';

export const channels: readonly Channel[] = [smtp, push, webhook];
