// Other spellings of guarded paths, by every method, without a credential: 400, 401 or 404, and never a sign of what is behind.
import { expect } from 'chai';
import { type House, startHouse } from './house.ts';
import { type Operation, operationsOf } from './operations.ts';
import { exchange, head, statusesOf } from './raw.ts';

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];

const hex = (text: string) => `%${text.charCodeAt(0).toString(16)}`;

const spellings: Readonly<Record<string, (path: string) => string>> = {
  'as it is': (path) => path,
  'in capitals': (path) => path.toUpperCase(),
  'in small letters': (path) => path.toLowerCase(),
  'its first letter escaped': (path) => `/${hex(path.charAt(1))}${path.slice(2)}`,
  'its last letter escaped': (path) => path.slice(0, -1) + hex(path.slice(-1)),
  'escaped twice': (path) => `/%25${path.charCodeAt(1).toString(16)}${path.slice(2)}`,
  'with a second slash': (path) => `/${path}`,
  'with a slash behind': (path) => `${path}/`,
  'with slashes doubled': (path) => path.replaceAll('/', '//'),
  'with slashes escaped': (path) => `/${path.slice(1).replaceAll('/', '%2f')}`,
  'with backslashes': (path) => path.replaceAll('/', '\\'),
  'with backslashes escaped': (path) => `/${path.slice(1).replaceAll('/', '%5c')}`,
  'with a dot segment': (path) => `/.${path}`,
  'with an open route and two dots': (path) => `/health/..${path}`,
  'with two escaped dots': (path) => `/health/%2e%2e${path}`,
  'with a parameter of a segment': (path) => path.replace(/^(\/[^/]+)/, '$1;x=1'),
  'with NUL behind': (path) => `${path}%00`,
  'with a space behind': (path) => `${path}%20`,
  'with an open route behind NUL': (path) => `${path}%00/health`,
  'with an overlong slash': (path) => path.replace(/(.)\//, '$1%c0%af'),
  'with look-alikes of k and i': (path) => path.replaceAll(/k/gi, '%e2%84%aa').replaceAll(/i/gi, '%c4%b1'),
  'with a broken escape': (path) => `${path}%`,
  'with a query': (path) => `${path}?/health`,
  'with a fragment': (path) => `${path}#/health`,
  'as an absolute URI': (path) => `http://x${path}`,
  'as an absolute URI with a user': (path) => `http://health@x${path}`,
  'as a URI of no scheme': (path) => `//x${path}`,
};

const overrides = ['X-Original-URL: /health', 'X-Rewrite-URL: /health', 'X-HTTP-Method-Override: GET', 'X-Forwarded-Prefix: /health'];

/** One below each prefix that a service guards, its parameters filled, with the methods that are not open to everybody there. */
function guardedPaths(service: string) {
  const operations = operationsOf(service);
  const guarded = operations.filter(({ scheme }) => scheme !== undefined);
  const isOpen = (path: string) => operations.some((one) => one.path === path && one.method === 'get' && one.scheme === undefined);
  const prefixOf = ({ path }: Operation) => path.split('/').slice(0, 3).join('/').toLowerCase();
  return [...Map.groupBy(guarded, prefixOf).values()].flatMap(([first]) =>
    first
      ? [{ path: first.path.replaceAll(/\{\w+\}/g, 'x'), methods: isOpen(first.path) ? methods.filter((one) => one !== 'GET' && one !== 'HEAD') : methods }]
      : [],
  );
}

describe('a guarded path in another spelling', function () {
  this.timeout(120_000);
  let house: House;
  before(async () => (house = await startHouse()));
  after(() => house.close());

  const ask = async (port: number, request: string) => {
    const answer = await exchange(port, head(request, 'Host: x', 'Connection: close', ...overrides));
    const statuses = statusesOf(answer);
    return statuses.length === 1 && [400, 401, 404].includes(statuses[0] ?? 0) ? [] : [`${request}: ${answer.slice(0, 200)}`];
  };

  it('is answered 400, 401 or 404, whatever the method', async () => {
    const wrong: string[] = [];
    for (const { name, port } of house.services) {
      for (const { path, methods: guarded } of guardedPaths(name)) {
        for (const spell of Object.values(spellings))
          wrong.push(...(await Promise.all(guarded.map((method) => ask(port, `${method} ${spell(path)} HTTP/1.1`)))).flat());
      }
    }
    expect(wrong).to.deep.equal([]);
  });
});
