// Swagger UI and the API description, from files of the installation: nothing is fetched from elsewhere.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { absolutePath } from 'swagger-ui-dist';
import { z } from 'zod';
import { answer, type AnyRoute, Content, route } from './route.ts';

const files: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>API</title>
    <link rel="stylesheet" href="swagger-ui.css">
    <link rel="icon" type="image/png" href="favicon-32x32.png">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="swagger-ui-bundle.js"></script>
    <script src="initializer.js"></script>
  </body>
</html>
`;
const initializer = `SwaggerUIBundle({ url: 'v1/swagger.json', dom_id: '#swagger-ui', deepLinking: true, validatorUrl: null });\n`;

const html = 'text/html; charset=utf-8';
const script = 'text/javascript; charset=utf-8';
const Anything = z.any();

/** Read once and shared by all answers: a copy for each would fill the memory of a service that strangers ask without reading. */
const assets = new Map<string, Promise<Buffer>>();

async function asset(name: string, mediaType: string): Promise<Content> {
  let bytes = assets.get(name);
  if (!bytes) assets.set(name, (bytes = readFile(join(absolutePath(), name))));
  return new Content(mediaType, await bytes);
}

export function swaggerRoutes(openapi: object): AnyRoute[] {
  const get = (path: `/${string}`, content: () => Content | Promise<Content>) =>
    route({ method: 'get', path, access: 'open', summary: 'API description', answers: { 200: Anything }, handle: content });
  const description = Buffer.from(JSON.stringify(openapi));
  return [
    get('/swagger/v1/swagger.json', () => new Content('application/json; charset=utf-8', description)),
    get('/swagger/index.html', () => new Content(html, page)),
    get('/swagger/initializer.js', () => new Content(script, initializer)),
    ...Object.entries(files).map(([name, mediaType]) => get(`/swagger/${name}`, () => asset(name, mediaType))),
    route({
      method: 'get',
      path: '/swagger',
      access: 'open',
      summary: 'API description',
      answers: { 301: null },
      handle: () => answer(301, null, { Location: '/swagger/index.html' }),
    }),
  ];
}
