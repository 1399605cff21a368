// Mutations of a request: of its method, target, headers, JSON, bytes and framing.
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { oddText, oddValue } from './values.ts';

/** A request before it is written. */
export type Draft = {
  method: string;
  target: string;
  headers: (readonly [name: string, value: string])[];
  body: Buffer | undefined;
  /** The framing of the body: right, by a wrong length, or in chunks. */
  framing: 'length' | 'tooLong' | 'tooShort' | 'both' | { readonly chunkBytes: number; readonly isEnded: boolean };
};

export type Mutation = { readonly name: string; readonly apply: (draft: Draft) => void };

/** A mutation and what it is made with. */
const mutation = <T>(name: string, arbitrary: fc.Arbitrary<T>, apply: (draft: Draft, value: T) => void): fc.Arbitrary<Mutation> =>
  arbitrary.map((value) => ({ name, apply: (draft) => apply(draft, value) }));

const chance = fc.nat(100_000);

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'SEARCH', 'QUERY', 'get', 'NONSENSE'];

const spell = (text: string) => encodeURIComponent(text.toWellFormed());

const target = [
  mutation('a segment', fc.tuple(chance, oddText), (draft, [at, text]) => {
    const segments = draft.target.split('/');
    segments[at % segments.length] = spell(text);
    draft.target = segments.join('/');
  }),
  mutation('a segment as it is', fc.tuple(chance, fc.string({ maxLength: 10 })), (draft, [at, text]) => {
    const segments = draft.target.split('/');
    segments.splice(at % segments.length, 0, text.replaceAll(/\s/g, ''));
    draft.target = segments.join('/');
  }),
  mutation('no segment', chance, (draft, at) => {
    const segments = draft.target.split('/');
    segments.splice(at % segments.length, 1);
    draft.target = segments.join('/');
  }),
  mutation('letters of the path', fc.constantFrom('upper', 'lower'), (draft, which) => {
    const [path = '', ...rest] = draft.target.split('?');
    draft.target = [which === 'upper' ? path.toUpperCase() : path.toLowerCase(), ...rest].join('?');
  }),
  mutation('an escape', chance, (draft, at) => {
    const place = at % (draft.target.length + 1);
    draft.target = `${draft.target.slice(0, place)}%${draft.target.charCodeAt(place).toString(16)}${draft.target.slice(place + 1)}`;
  }),
  mutation('an absolute URI', fc.constantFrom('http://x', 'https://a@b:99', '//x', 'x:'), (draft, prefix) => void (draft.target = prefix + draft.target)),
  mutation('a parameter', fc.tuple(fc.constantFrom('limit', 'after', 'from', 'to', 'environment', 'x', '__proto__', ''), oddText), (draft, [name, value]) => {
    draft.target += `${draft.target.includes('?') ? '&' : '?'}${name}=${spell(value)}`;
  }),
  mutation('a query as it is', fc.constantFrom('%', '&&&', '=', '%ff=%fe', 'a[b]=c', 'limit=1&limit=2', '?', '#x'), (draft, text) => {
    draft.target += `${draft.target.includes('?') ? '&' : '?'}${text}`;
  }),
];

const knownHeaders = [
  'Content-Type',
  'Content-Encoding',
  'Accept',
  'Expect',
  'Authorization',
  'X-Api-Key',
  'X-Request-Id',
  'X-Forwarded-For',
  'X-Timezone',
  'X-GitHub-Event',
  'X-GitHub-Delivery',
  'X-GitHub-Hook-ID',
  'traceparent',
  'Origin',
  'Cookie',
  'X-Hub-Signature-256',
  'Connection',
  'Host',
];
const headerValues = [
  '',
  'gzip',
  'identity',
  'application/json; charset=utf-16',
  'application/vnd.x+json',
  'text/plain',
  'multipart/form-data; boundary=x',
  'application/x-www-form-urlencoded',
  '100-continue',
  'text/plain;q=x, */*;q=0',
  'Bearer ',
  'Bearer x, Bearer y',
  '00-00000000000000000000000000000000-0000000000000000-ff',
  '1.1.1.1, [::1]:99999, nobody',
  'Mars/Olympus',
  'x'.repeat(8000),
  '\u00ff\u00fe',
  'keep-alive',
  'sha256=00',
];

const headers = [
  mutation('a header', fc.tuple(fc.constantFrom(...knownHeaders), fc.constantFrom(...headerValues)), (draft, [name, value]) => {
    draft.headers = [...draft.headers.filter(([one]) => one !== name), [name, value]];
  }),
  mutation('a second header', fc.tuple(fc.constantFrom(...knownHeaders), fc.constantFrom(...headerValues)), (draft, pair) => {
    draft.headers = [...draft.headers, pair];
  }),
  mutation('no header', chance, (draft, at) => void (draft.headers = draft.headers.filter((_, index) => index !== at % draft.headers.length))),
  mutation('a header twice', chance, (draft, at) => {
    const one = draft.headers[at % draft.headers.length];
    if (one) draft.headers = [...draft.headers, one];
  }),
];

type Node = { readonly holder: Record<string, unknown>; readonly name: string };

/** Each member of each object and item of each list. */
function nodesOf(value: unknown): Node[] {
  if (typeof value !== 'object' || value === null) return [];
  const holder = value as Record<string, unknown>;
  return Object.keys(holder).flatMap((name) => [{ holder, name }, ...nodesOf(holder[name])]);
}

function changeJson(draft: Draft, at: number, change: (node: Node) => void): void {
  try {
    const value: unknown = JSON.parse(draft.body?.toString() ?? '');
    const nodes = nodesOf(value);
    const node = nodes[at % nodes.length];
    if (node) change(node);
    draft.body = Buffer.from(JSON.stringify(value));
  } catch {
    // what another mutation left is no JSON
  }
}

const json = [
  mutation('a value', fc.tuple(chance, oddValue), (draft, [at, odd]) => changeJson(draft, at, ({ holder, name }) => (holder[name] = odd))),
  mutation('no member', chance, (draft, at) => changeJson(draft, at, ({ holder, name }) => void Reflect.deleteProperty(holder, name))),
  mutation('a member', fc.tuple(chance, oddText, oddValue), (draft, [at, name, odd]) => changeJson(draft, at, ({ holder }) => (holder[name] = odd))),
  mutation('a whole body', oddValue, (draft, odd) => void (draft.body &&= Buffer.from(JSON.stringify(odd)))),
  mutation('a number', fc.tuple(chance, fc.constantFrom('1e999', '-0', '1'.repeat(400), '0.1e-400')), (draft, [at, text]) => {
    changeJson(draft, at, ({ holder, name }) => (holder[name] = 'ODD NUMBER'));
    draft.body &&= Buffer.from(draft.body.toString().replace('"ODD NUMBER"', text));
  }),
];

const bytes = [
  mutation('a byte', fc.tuple(chance, fc.nat(255)), (draft, [at, byte]) => {
    if (!draft.body || draft.body.length === 0) return;
    draft.body = Buffer.from(draft.body);
    draft.body[at % draft.body.length] = byte;
  }),
  mutation('a cut', chance, (draft, at) => void (draft.body &&= draft.body.subarray(0, at % (draft.body.length + 1)))),
  mutation('a byte order mark', fc.constant(0), (draft) => void (draft.body &&= Buffer.concat([Buffer.from('\ufeff'), draft.body]))),
  mutation('UTF-16', fc.constant(0), (draft) => void (draft.body &&= Buffer.from(draft.body.toString(), 'utf16le'))),
  mutation('gzip', fc.constantFrom(true, false), (draft, isTold) => {
    draft.body &&= gzipSync(draft.body);
    if (isTold) draft.headers = [...draft.headers, ['Content-Encoding', 'gzip']];
  }),
  mutation('a body', fc.constantFrom('{}', 'x', ''), (draft, text) => void (draft.body ??= Buffer.from(text))),
  mutation('no body', fc.constant(0), (draft) => void (draft.body = undefined)),
];

const framing = [
  mutation('chunks', fc.tuple(fc.integer({ min: 1, max: 5000 }), fc.boolean()), (draft, [chunkBytes, isEnded]) => {
    draft.framing = { chunkBytes: Math.max(chunkBytes, Math.ceil((draft.body?.length ?? 0) / 200)), isEnded };
  }),
  mutation('a wrong length', fc.constantFrom('tooLong', 'tooShort', 'both'), (draft, kind) => void (draft.framing = kind)),
];

export const mutations: fc.Arbitrary<Mutation> = fc.oneof(
  { weight: 4, arbitrary: fc.oneof(...target) },
  { weight: 3, arbitrary: fc.oneof(...headers) },
  { weight: 7, arbitrary: fc.oneof(...json) },
  { weight: 3, arbitrary: fc.oneof(...bytes) },
  { weight: 1, arbitrary: fc.oneof(...framing) },
  { weight: 1, arbitrary: mutation('a method', fc.constantFrom(...methods), (draft, method) => void (draft.method = method)) },
);
