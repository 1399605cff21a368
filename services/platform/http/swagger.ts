// Swagger UI and the API description, from files of the installation: nothing is fetched from elsewhere.
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { answer, type AnyRoute, Content, route } from './route.ts';

const mediaTypes = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

// The package itself would run the whole of Swagger UI.
const directory = new URL('.', import.meta.resolve('swagger-ui-dist/package.json'));

/** Read once and shared by all answers: for who asks much and reads nothing, copies or open files would fill the memory. */
const files = Object.entries(mediaTypes).map(([name, mediaType]) => ({ name, content: new Content(mediaType, readFileSync(new URL(name, directory))) }));

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

/** Swagger UI sets styles of its own, and has its images in them. */
const forBrowsers = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

/**
 * @param describe makes the description, when it is asked for
 * @param options `isGuarded`: an area that covers `/swagger` asks for a credential
 */
export function swaggerRoutes(title: string, describe: () => object, { isGuarded = false } = {}): AnyRoute[] {
  const access = isGuarded ? {} : ({ access: 'open' } as const);
  const declared = { method: 'get', summary: 'API description', ...access } as const;
  const get = (path: `/${string}`, content: () => Content) =>
    route({ ...declared, path, answers: { 200: z.any() }, handle: () => answer(200, content(), forBrowsers) });
  let description: Buffer | undefined;
  const page = pageOf(title);
  return [
    get('/swagger/v1/swagger.json', () => new Content('application/json; charset=utf-8', (description ??= Buffer.from(JSON.stringify(describe()))))),
    get('/swagger/index.html', () => new Content('text/html; charset=utf-8', page)),
    get('/swagger/initializer.js', () => new Content('text/javascript; charset=utf-8', initializer)),
    ...files.map(({ name, content }) => get(`/swagger/${name}`, () => content)),
    route({
      ...declared,
      path: '/swagger',
      answers: { 301: null },
      handle: () => answer(301, null, { Location: '/swagger/index.html' }),
    }),
  ];
}
