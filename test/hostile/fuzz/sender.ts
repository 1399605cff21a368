// Writes a planned request as bytes, sends it on a connection of its own, and reads the answer.
import { connect } from 'node:net';
import { credential } from '../../services/webhook-intake/sources/ground.ts';
import { sign } from '../delivering.ts';
import type { Draft } from './mutations.ts';
import { isSigned, type Planned, sampleOf } from './requests.ts';
import { recallPattern } from './values.ts';

/** The address and credentials for requests to one service. */
export type Partner = {
  readonly port: number;
  /** By scheme; more are learned from answers. */
  readonly credentials: Map<string, readonly [header: string, value: string]>;
  /** Texts of its answers, the newest last. */
  readonly memory: string[];
  readonly webhookSecret: string;
  /** The secret of every direct source. */
  readonly sourceSecret: string;
};

export type Written = { readonly method: string; readonly bytes: Buffer; /** No server waits for more of it. */ readonly isWhole: boolean };

export type Received = {
  /** Undefined when none came. */
  readonly status: number | undefined;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  readonly ms: number;
};

/** Signs what the mutations have left. */
export function write(planned: Planned, { credentials, memory, webhookSecret, sourceSecret }: Partner): Written {
  const { operation } = planned;
  const recall = (text: string) => text.replaceAll(recallPattern, (_, number) => memory[Number(number) % memory.length] ?? 'nothing');
  const fill = (value: unknown) => encodeURIComponent(recall(String(value)).toWellFormed());
  const source = sampleOf(operation)?.source;
  // Its token, beside the one in the header, would be refused every time.
  const query = Object.entries(source ? {} : planned.query).map(([name, value]) => `${name}=${fill(value)}`);
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => fill(planned.params[name]) || 'x');
  const text =
    planned.body === undefined ? undefined : JSON.stringify(planned.body, (_, value: unknown) => (typeof value === 'string' ? recall(value) : value));
  const draft: Draft = {
    method: operation.method.toUpperCase(),
    target: [path, ...query].join('&').replace('&', '?'),
    headers: [
      ['Host', 'fuzz'],
      ...(text === undefined ? [] : [['Content-Type', operation.mediaType ?? 'application/json'] as const]),
      ...Object.entries(planned.headers).map(([name, value]) => [name, recall(String(value))] as const),
    ],
    body: text === undefined ? undefined : Buffer.from(text),
    framing: 'length',
  };
  const held = operation.scheme === undefined ? undefined : credentials.get(operation.scheme);
  if (held && planned.credential !== 'none') draft.headers.push(planned.credential === 'held' ? held : [held[0], `${held[1].slice(0, -1)}~`]);
  for (const { apply } of planned.mutations) apply(draft);
  if (isSigned(operation) && draft.body && planned.credential === 'held')
    draft.headers = [...draft.headers.filter(([name]) => name !== 'X-Hub-Signature-256'), ['X-Hub-Signature-256', sign(webhookSecret, draft.body)]];
  if (source && planned.credential === 'held') {
    const added = credential(source, sourceSecret, draft.body ?? '');
    draft.headers = [...draft.headers.filter(([name]) => !(name in added)), ...Object.entries(added)];
  }
  return { method: draft.method, ...serialize(draft) };
}

const oneLine = (text: string) => Buffer.from(text.replaceAll(/[\r\n]/g, ' ').replaceAll('\0', ' ')).toString('latin1');

function serialize({ method, target, headers, body, framing }: Draft): { readonly bytes: Buffer; readonly isWhole: boolean } {
  const length = body?.length ?? 0;
  const lines = [...headers, ['Connection', 'close'] as const];
  let payload = body ?? Buffer.alloc(0);
  let isWhole = true;
  if (typeof framing === 'object') {
    lines.push(['Transfer-Encoding', 'chunked']);
    const chunks = Array.from({ length: Math.ceil(length / framing.chunkBytes) }, (_, n) =>
      payload.subarray(n * framing.chunkBytes, (n + 1) * framing.chunkBytes),
    );
    const written = chunks.flatMap((chunk) => [Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')]);
    payload = Buffer.concat([...written, Buffer.from(framing.isEnded ? '0\r\n\r\n' : '')]);
    isWhole = framing.isEnded;
  } else if (body !== undefined || framing !== 'length') {
    const wrong = { length: 0, both: 0, tooLong: 1000, tooShort: -1 }[framing];
    lines.push(['Content-Length', String(Math.max(0, length + wrong))]);
    if (framing === 'both') lines.push(['Transfer-Encoding', 'chunked']);
    isWhole = framing !== 'tooLong';
  }
  const head = [`${method} ${target.replaceAll(/[\s\0]/g, '+')} HTTP/1.1`, ...lines.map(([name, value]) => `${name}: ${value}`)].map(oneLine);
  return { bytes: Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), payload]), isWhole };
}

/** Longest that anything is waited for. */
const hangMs = 15_000;

/** The connection ends after an incomplete request, as when its sender crashes. */
export function send(port: number, { bytes, isWhole }: Written): Promise<Received> {
  const begun = performance.now();
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
  socket.setTimeout(hangMs, () => socket.destroy());
  socket.on('error', () => undefined);
  if (isWhole) socket.write(bytes);
  else socket.end(bytes);
  socket.once('end', () => socket.end());
  return new Promise((resolve) => {
    socket.once('close', () => {
      const final = text.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '');
      const [head = '', ...body] = final.split('\r\n\r\n');
      const [first = '', ...lines] = head.split('\r\n');
      const status = /^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1];
      const headers = new Map(lines.map((line) => [line.split(':', 1)[0]?.toLowerCase() ?? '', line.slice(line.indexOf(':') + 1).trim()]));
      resolve({ status: status === undefined ? undefined : Number(status), headers, body: body.join('\r\n\r\n'), ms: performance.now() - begun });
    });
  });
}

const rememberedTexts = 200;

/** Keeps texts of an answer for later requests, and a key that it was given. */
export function learn({ credentials, memory }: Partner, body: string, keySchemes: ReadonlyMap<string, string>): void {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(body, 'latin1').toString());
  } catch {
    return;
  }
  JSON.stringify(value, (name, inner: unknown) => {
    if (typeof inner === 'string' && inner.length > 0 && inner.length < 200) {
      memory.push(inner);
      if (/key$/i.test(name) && name.startsWith('plain')) for (const [scheme, header] of keySchemes) credentials.set(scheme, [header, inner]);
    }
    return inner;
  });
  memory.splice(0, memory.length - rememberedTexts);
}
