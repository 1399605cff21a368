// One message that the workers gave up: why, its headers and payload, and what can be done to it.
import { z } from 'zod';
import { h, type VNode } from '../../view/elements.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import { DeadLetterDetail } from '../../../webhook-intake/dashboard/contract.ts';
import { page, type Visit } from '../../pages.ts';
import { pathOf } from '../../upstream/client.ts';
import { detailList } from '../../view/details.ts';
import { pageHead, section } from '../../view/shell.ts';
import { code, dotted, saidWhole, time } from '../../view/texts.ts';
import { causeBadge, dropForm, path, selectorOf, sendBackForm } from './dead-letters.ts';
import { headerList, payloadView } from './received.ts';

const slowMs = 60_000;
const Details = z.object({ items: z.array(DeadLetterDetail) });
type Detail = AnswerOf<typeof DeadLetterDetail>;

const show = page({
  path: '/system/dead-letters/{messageId}',
  area: 'system',
  params: z.object({ messageId: z.string() }),
  async show(visit) {
    const { locale, ask, params } = visit;
    const { system } = locale.t;
    const call = { path: pathOf`/api/v1/dead-letters/${params.messageId}`, timeoutMs: slowMs };
    const { items } = await ask('intake').send(call, Details);
    const [first] = items;
    return {
      title: system.dead.title,
      body: [
        pageHead({ title: first?.event ?? system.dead.title, trail: [{ label: system.deadLetters, href: path }], lead: code(params.messageId) }),
        items.map((one) => messageSection(visit, one)),
      ],
    };
  },
});

/** The message as it lies in one place: it may be dead in both queues, and on several connections. */
function messageSection(visit: Visit, one: Detail): VNode {
  const { locale, may } = visit;
  const { system } = locale.t;
  const { connection, queue, reason, diedAt, returns, deliveryId, bytes, body, headers } = one;
  const trace = deliveryId !== null && may('events') ? h('a', { href: `/trace/${encodeURIComponent(deliveryId)}` }, code(deliveryId)) : deliveryId;
  const about = detailList([
    [system.reason, saidWhole(locale, reason)],
    [system.state, causeBadge(locale, one)],
    [system.dead.diedAt, time(locale, diedAt, 'whole')],
    [system.dead.returns, locale.format.number(returns)],
    [system.delivery, trace],
    [system.dead.bytes, locale.format.bytes(bytes)],
  ]);
  return section(
    dotted(queue, connection),
    h('div', { class: 'card' }, about),
    h(
      'div',
      { class: 'decisions' },
      may('system', 'editor') ? sendBackForm(selectorOf(one), system.dead.sendBack) : null,
      may('system', 'admin') ? dropForm(locale, { fields: selectorOf(one), of: 'one', id: `${connection} ${queue}`.replaceAll(/[^\w-]/g, '-') }) : null,
    ),
    headerList(locale, headers),
    payloadView(locale, body, { heading: 'h3', cut: body.length < bytes ? system.dead.cut : undefined }),
  );
}

export const deadLetterPage = [show];
