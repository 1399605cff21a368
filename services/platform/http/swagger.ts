// Swagger UI and the API description, from files of the installation: nothing is fetched from elsewhere.
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { z } from 'zod';
import { answer, type AnyRoute, Content, route, type RouteRequest } from './route.ts';

const mediaTypes = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

// The package itself would run the whole of Swagger UI.
const directory = new URL('.', import.meta.resolve('swagger-ui-dist/package.json'));

/** Swagger UI sets styles of its own, and has its images in them. */
const forBrowsers = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

/**
 * Bytes that are read and compressed when they are first asked for, and then shared by all answers: copies or open files would fill the memory
 * when a client asks often and reads nothing.
 */
function asset(mediaType: string, read: () => Promise<Buffer>) {
  let plain: Promise<Buffer> | undefined;
  let compressed: Promise<Buffer> | undefined;
  return async ({ acceptsEncodings }: Pick<RouteRequest<undefined, undefined, undefined>, 'acceptsEncodings'>) => {
    plain ??= read();
    const varies = { Vary: 'Accept-Encoding', ...forBrowsers };
    if (acceptsEncodings('gzip', 'identity') !== 'gzip') return answer(200, new Content(mediaType, await plain), varies);
    compressed ??= plain.then((bytes) => promisify(gzip)(bytes, { level: 9 }));
    return answer(200, new Content(mediaType, await compressed), { 'Content-Encoding': 'gzip', ...varies });
  };
}

const files = Object.entries(mediaTypes).map(([name, mediaType]) => ({ name, send: asset(mediaType, () => readFile(new URL(name, directory))) }));

const pageOf = (title: string) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title}</title>
    <link rel="stylesheet" href="swagger-ui.css">
    <style>
      /* Swagger UI leaves 200 pixels of its head empty. */
      .swagger-ui .info { margin: 24px 0 8px; }
      .swagger-ui .scheme-container { margin: 0; padding: 8px 0; box-shadow: none; }
    </style>
    <link rel="icon" type="image/png" href="favicon-32x32.png">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="swagger-ui-bundle.js"></script>
    <script src="initializer.js"></script>
  </body>
</html>
`;
const initializer = `SwaggerUIBundle({ url: 'v1/swagger.json', dom_id: '#swagger-ui', deepLinking: true, persistAuthorization: true, validatorUrl: null });\n`;

/**
 * @param describe makes the description, when it is asked for
 * @param options `isGuarded`: an area that covers `/swagger` asks for a credential
 */
export function swaggerRoutes(title: string, describe: () => object, { isGuarded = false } = {}): AnyRoute[] {
  const access = isGuarded ? {} : ({ access: 'open' } as const);
  const declared = { method: 'get', summary: 'API description', ...access } as const;
  const get = (path: `/${string}`, handle: ReturnType<typeof asset>) => route({ ...declared, path, answers: { 200: z.any() }, handle });
  const text = (mediaType: string, make: () => string) => asset(`${mediaType}; charset=utf-8`, () => Promise.resolve(Buffer.from(make())));
  return [
    get(
      '/swagger/v1/swagger.json',
      text('application/json', () => JSON.stringify(describe())),
    ),
    get(
      '/swagger/index.html',
      text('text/html', () => pageOf(title)),
    ),
    get(
      '/swagger/initializer.js',
      text('text/javascript', () => initializer),
    ),
    ...files.map(({ name, send }) => get(`/swagger/${name}`, send)),
    route({
      ...declared,
      path: '/swagger',
      answers: { 301: null },
      handle: () => answer(301, null, { Location: '/swagger/index.html' }),
    }),
  ];
}
