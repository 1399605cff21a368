// One event: what happened, its way, its payload, its headers; replayed, or asked for once more.
import { z } from 'zod';
import { h, type VNode } from '../../view/elements.ts';
import { Problem } from '../../../platform/problem.ts';
import { parseJson } from '../../../platform/json.ts';
import { answer, Content } from '../../../platform/http/route.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import { EventDetail } from '../../../webhook-intake/contract.ts';
import { DeliveryTrace, Redelivery, ReplayRun } from '../../../webhook-intake/dashboard/contract.ts';
import { action, ById, type Declared, noFields, page, resource, type Visit } from '../../pages.ts';
import { pathOf } from '../../upstream/client.ts';
import { copyable, detailList, jsonTree } from '../../view/details.ts';
import { actionButton, actionsFormElement } from '../../view/lists.ts';
import type { Locale } from '../../view/locale.ts';
import { withQuery } from '../../view/pager.ts';
import { pageHead, section } from '../../view/shell.ts';
import { code, externalLink, quiet, time } from '../../view/texts.ts';
import { workerPath } from '../system/workers.ts';
import { curlOf, payloadFile } from './curl.ts';
import { eventLine, eventPath, kindOf, scoreBadge, senderClassIn, titleOf, tracePath } from './event-table.ts';
import { linksIn } from './forge-links.ts';
import { findIn, foundList } from './payload-search.ts';
import { traceView } from './trace.ts';

type Detail = AnswerOf<typeof EventDetail>;

/** A larger payload is only saved: as a tree it would be a page of megabytes. */
const mostShownBytes = 524_288;
const traceMs = 3000;

type Payload = { readonly text: string; readonly value: unknown } | { readonly missing: 'large' | 'deleted' };

async function payloadOf({ ask }: Pick<Visit, 'ask'>, { id, bytes }: Detail): Promise<Payload> {
  if (bytes > mostShownBytes) return { missing: 'large' };
  try {
    const answered = await ask('intake').open({ path: pathOf`/api/v1/events/${id}/payload` });
    const received = await answered.bytes();
    return { text: received.toString(), value: parseJson(received) };
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return { missing: 'deleted' };
    throw error;
  }
}

/** The way of the delivery, where the intake and its brokers say it in time. */
async function traceOf({ ask }: Pick<Visit, 'ask'>, { deliveryId }: Detail) {
  try {
    return await ask('intake').send({ path: pathOf`/api/v1/trace/${deliveryId}`, timeoutMs: traceMs }, DeliveryTrace);
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}

const find = (visit: Pick<Visit, 'ask'>, id: string) => visit.ask('intake').get(pathOf`/api/v1/events/${id}`, EventDetail, { payload: false });

const show = page({
  path: '/events/{id}',
  area: 'events',
  params: ById,
  query: z.object({ find: z.string().max(200).optional() }),
  async show(visit) {
    const { locale, params, query, may } = visit;
    const { events, view } = locale.t;
    const event = await find(visit, params.id);
    const [payload, trace] = await Promise.all([payloadOf(visit, event), traceOf(visit, event)]);
    const title = titleOf(event) ?? kindOf(event);
    return {
      title,
      body: [
        pageHead({
          title,
          trail: [{ label: view.areas.events, href: '/events' }],
          lead: eventLine(locale, event),
          actions: may('events', 'editor') ? buttons(locale, event, trace?.isRedeliverable ?? event.source === 'forge') : null,
        }),
        h('div', { class: 'columns' }, [
          section(events.summary, h('div', { class: 'card' }, summary(locale, event, 'value' in payload ? payload.value : undefined))),
          section(events.fate, trace ? traceView(locale, trace, { here: event.id }) : h('p', { class: 'quiet' }, events.traceLate), [
            h('p', null, h('a', { href: tracePath(event.deliveryId), 'data-key': 't', 'data-key-label': events.wholeTrace }, events.wholeTrace)),
          ]),
        ]),
        payloadSection(locale, { event, payload, searched: query.find }),
        section(events.headers, h('details', null, h('summary', null, events.showHeaders(Object.keys(event.headers).length)), headerList(event))),
        section(events.curl, h('p', { class: 'quiet' }, events.curlHint), curl(locale, event, payload)),
        actionsFormElement(),
      ],
    };
  },
});

const headerList = ({ headers }: Detail) => h('div', { class: 'card' }, detailList(Object.entries(headers).map(([name, value]) => [name, code(value)])));

const curl = (locale: Locale, event: Detail, payload: Payload): VNode =>
  copyable(locale, curlOf(event, 'text' in payload ? payload.text : undefined), { label: locale.t.events.showCurl, isFolded: true });

/** @param isRedeliverable as the intake says; where it says nothing in time it is asked once the button is pressed */
function buttons({ t: { events } }: Locale, { id }: Pick<Detail, 'id'>, isRedeliverable: boolean): VNode[] {
  const path = eventPath(id);
  const buttonOf = (verb: 'replay' | 'redeliver', label: string, rest: Partial<Parameters<typeof actionButton>[0]>) =>
    actionButton({ path: `${path}/${verb}`, label, inPlace: 'stay', ...rest });
  return [
    buttonOf('replay', events.replay, { icon: 'again', key: 'r', tone: 'primary' }),
    buttonOf('replay', events.replaySilently, { field: ['notify', 'false'] }),
    ...(isRedeliverable ? [buttonOf('redeliver', events.redeliver, { key: 'd' })] : []),
  ];
}

function summary(locale: Locale, event: Detail, payload: unknown): VNode {
  const { events } = locale.t;
  const { repository, sender, senderClass, score, isCoreFunction, originalEvent, originalAction, event: kind, action: verb } = event;
  const filtered = (query: Readonly<Record<string, string>>, label: string) => h('a', { href: withQuery('/events', query) }, label);
  const links = linksIn(payload);
  const original = [originalEvent, originalAction].filter(Boolean).join(' · ');
  return detailList([
    [events.event, [filtered({ event: kind }, kind), verb === null ? null : [' · ', filtered({ event: kind, action: verb }, verb)]]],
    ...(original !== '' && original !== kindOf(event) ? ([[events.original, original]] as const) : []),
    [events.repository, repository && filtered({ repository }, repository)],
    [events.sender, sender && [filtered({ sender }, sender), senderClass ? quiet(` ${senderClassIn(locale, senderClass)}`) : null]],
    [events.links, links.length === 0 ? null : links.map(({ label, url }) => h('div', null, externalLink(url, label)))],
    [events.source, event.forge ?? event.source],
    [events.score, [scoreBadge(locale, score), isCoreFunction ? quiet(` ${events.coreFunction}`) : null]],
    [events.bytes, locale.format.bytes(event.bytes)],
    [events.received, time(locale, event.receivedAt, 'whole')],
    [events.stored, time(locale, event.storedAt, 'whole')],
    [events.deliveryId, code(event.deliveryId)],
    [events.hook, event.hookId === '0' ? null : code(event.hookId)],
  ]);
}

type PayloadParts = { readonly event: Detail; readonly payload: Payload; readonly searched: string | undefined };

function payloadSection(locale: Locale, { event, payload, searched }: PayloadParts): VNode {
  const { events } = locale.t;
  const raw = `${eventPath(event.id)}/payload`;
  if ('missing' in payload) {
    const isLarge = payload.missing === 'large';
    return section(
      events.payload,
      h('p', { class: 'quiet' }, isLarge ? events.payloadLarge(locale.format.bytes(event.bytes)) : events.payloadDeleted),
      isLarge ? h('p', null, h('a', { class: 'button', href: raw, download: payloadFile(event.id) }, events.save)) : null,
    );
  }
  const searchForm = h(
    'form',
    { class: 'payload-tools', action: eventPath(event.id) },
    h('input', {
      type: 'search',
      name: 'find',
      value: searched,
      'aria-label': events.searchPayload,
      placeholder: events.searchPayload,
      'data-key': '/',
      'data-key-label': events.searchPayload,
    }),
    h('button', null, events.searchButton),
    h('a', { class: 'button plain', href: raw }, events.raw),
    h('a', { class: 'button plain', href: raw, download: payloadFile(event.id) }, events.save),
    h('button', { type: 'button', class: 'plain', 'data-copy-text': payload.text, 'data-key': 'y', 'data-key-label': events.copyPayload }, events.copyPayload),
  );
  return section(
    events.payload,
    searchForm,
    searched === undefined ? null : foundList(locale, findIn(payload.value, searched), searched),
    jsonTree(locale, payload.value),
  );
}

const raw = resource({
  path: '/events/{id}/payload',
  area: 'events',
  params: ById,
  async answer({ ask, params: { id } }) {
    const { header, body } = await ask('intake').open({ path: pathOf`/api/v1/events/${id}/payload`, timeoutMs: 60_000 });
    const length = header('content-length');
    const headers = {
      'Content-Disposition': `inline; filename="${payloadFile(id.replaceAll(/[^\w-]/g, ''))}"`,
      ...(length !== undefined && { 'Content-Length': length }),
    };
    return answer(200, new Content('application/json; charset=utf-8', body), headers);
  },
});

const replay = action({
  path: '/events/{id}/replay',
  area: 'events',
  params: ById,
  form: z.object({ notify: z.enum(['true', 'false']).optional() }),
  async run({ params: { id }, form: { notify }, locale: { t }, ask, may }) {
    const call = { method: 'POST', path: pathOf`/api/v1/events/${id}/replay`, query: { notify } } as const;
    await ask('intake').send(call, ReplayRun);
    const link = may('system') ? { href: workerPath('replay'), label: t.system.workers.showRun } : undefined;
    return { message: notify === 'false' ? t.events.replayedSilently : t.events.replayed, link, target: id };
  },
});

const redeliver = action({
  path: '/events/{id}/redeliver',
  area: 'events',
  params: ById,
  form: noFields,
  async run(visit) {
    const { deliveryId } = await find(visit, visit.params.id);
    const call = { method: 'POST', path: pathOf`/api/v1/deliveries/${deliveryId}/redeliver`, timeoutMs: 25_000 } as const;
    const { hook } = await visit.ask('intake').send(call, Redelivery);
    const { events } = visit.locale.t;
    return { message: events.redelivered(hook), link: { href: tracePath(deliveryId), label: events.toTrace }, target: deliveryId };
  },
});

export const eventPages: readonly Declared[] = [raw, show, replay, redeliver];
