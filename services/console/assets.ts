// The files that pages load: style, script, manifest and icons. Each name holds a hash of its content, so that browsers keep them for good.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { z } from 'zod';
import { answer, type AnyRoute, Content, route } from '../platform/http/route.ts';
import { Common } from '../platform/problem.ts';
import type { AssetPaths } from './view/frame.ts';
import { iconRules } from './view/icons.ts';

const read = (path: string) => readFileSync(new URL(path, import.meta.url));
const namesIn = (folder: string, ending: string) => readdirSync(new URL(folder, import.meta.url)).filter((name) => name.endsWith(ending));

type Asset = { readonly name: string; readonly mediaType: string; readonly bytes: Buffer; readonly packed: (coding: Coding) => Buffer };
type Coding = 'br' | 'gzip';

/** @param path `<title>.<ending>`; the hash comes between them */
function asset(path: string, mediaType: string, bytes: Buffer): Asset {
  const [title, ending] = path.split('.');
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 10);
  const made: Partial<Record<Coding, Buffer>> = {};
  return { name: `${title}.${hash}.${ending}`, mediaType, bytes, packed: (coding) => (made[coding] ??= pack(bytes, coding)) };
}

const pack = (bytes: Buffer, coding: Coding) =>
  coding === 'br' ? brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT } }) : gzipSync(bytes, { level: 9 });

/** One sheet of all styles; its layers decide what overrides what, once `base.css` has named them. */
function style(): string {
  const names = namesIn('assets/styles/', '.css').sort((one, other) => Number(other === 'base.css') - Number(one === 'base.css') || one.localeCompare(other));
  const sheets = names.map((name) => read(`assets/styles/${name}`).toString());
  const rules = sheets
    .join('\n')
    .replaceAll(/\/\*.*?\*\//gs, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([{};,]) ?|(:) /g, '$1$2')
    .replaceAll(';}', '}');
  return rules + iconRules();
}

const importLine = /^import (?:type )?(?:\{[^}]*\} from )?'(?:\.\/([\w-]+\.ts))';\n/gm;

/**
 * A script as one module: each file after those that it imports, without its types, its comments and its imports. Files of `client/` share a scope
 * therefore, and no two may declare the same name.
 */
function script(entry: 'main.ts' | 'map.ts'): string {
  const bodies = new Map<string, string>();
  const add = (name: string) => {
    if (bodies.has(name)) return;
    bodies.set(name, '');
    const source = read(`client/${name}`).toString();
    for (const [, imported] of source.matchAll(importLine)) if (imported) add(imported);
    bodies.delete(name);
    bodies.set(name, source.replaceAll(importLine, ''));
  };
  add(entry);
  return withoutTypes([...bodies.values()].join(''))
    .replaceAll(/^export /gm, '')
    .replaceAll(/[ \t]+$/gm, '')
    .replaceAll(/^\s*(?:\/\/.*|\/\*\*.*\*\/)?\n/gm, '')
    .replaceAll(/^\s+/gm, ' ');
}

const strip = `process.stdout.write(require('node:module').stripTypeScriptTypes(require('node:fs').readFileSync(0, 'utf8')))`;

/** By the function with which Node runs our TypeScript; in a process of its own, since it would keep 18 MiB here for good. */
const withoutTypes = (source: string): string => execFileSync(process.execPath, ['--no-warnings', '--eval', strip], { input: source, encoding: 'utf8' });

/** With it the console can be put on the home screen of a phone, and takes links from its share sheet. */
const manifest = (iconPath: string, ...pngPaths: readonly [path: string, sizes: string][]) => ({
  name: 'Signalbox',
  short_name: 'Signalbox',
  id: '/',
  start_url: '/',
  scope: '/',
  display: 'standalone',
  background_color: '#f5f5f1',
  theme_color: '#0a6170',
  icons: [
    { src: iconPath, type: 'image/svg+xml', sizes: 'any' },
    ...pngPaths.flatMap(([src, sizes]) => ['any', 'maskable'].map((purpose) => ({ src, sizes, purpose, type: 'image/png' }))),
  ],
  share_target: { action: '/bookmarks/new', method: 'GET', params: { title: 'title', text: 'text', url: 'url' } },
});

const pathOf = ({ name }: Asset) => `/assets/${name}`;

const packaged = (path: string) => readFileSync(new URL(import.meta.resolve(path)));

const css = 'text/css; charset=utf-8';
const javascript = 'text/javascript; charset=utf-8';

function createAssets(): { readonly paths: AssetPaths; readonly all: ReadonlyMap<string, Asset> } {
  const icon = asset('icon.svg', 'image/svg+xml', read('assets/icon.svg'));
  const small = asset('icon-192.png', 'image/png', read('assets/icon-192.png'));
  const large = asset('icon-512.png', 'image/png', read('assets/icon-512.png'));
  const described = JSON.stringify(manifest(pathOf(icon), [pathOf(small), '192x192'], [pathOf(large), '512x512']));
  const sheet = asset('style.css', css, Buffer.from(style()));
  const module = asset('script.js', javascript, Buffer.from(script('main.ts')));
  const map = {
    style: asset('leaflet.css', css, Buffer.from(`@layer leaflet{${packaged('leaflet/dist/leaflet.css').toString()}}`)),
    script: asset('map.js', javascript, Buffer.from(script('map.ts'))),
    library: asset('leaflet.js', javascript, packaged('leaflet/dist/leaflet.js')),
  };
  const about = asset('manifest.webmanifest', 'application/manifest+json', Buffer.from(described));
  return {
    paths: {
      style: pathOf(sheet),
      script: pathOf(module),
      manifest: pathOf(about),
      icon: pathOf(icon),
      touchIcon: pathOf(small),
      map: { style: pathOf(map.style), script: pathOf(map.script), library: pathOf(map.library) },
    },
    all: new Map([icon, small, large, sheet, module, about, ...Object.values(map)].map((one) => [one.name, one])),
  };
}

let made: ReturnType<typeof createAssets> | undefined;

/** Made when first asked for: it starts processes, and most commands load this module without serving pages. */
const assets = () => (made ??= createAssets());

export const assetPaths = (): AssetPaths => assets().paths;

const forGood = { 'Cache-Control': 'public, max-age=31536000, immutable', 'X-Content-Type-Options': 'nosniff', Vary: 'Accept-Encoding' };

export const assetRoutes = (): AnyRoute[] => [
  route({
    method: 'get',
    path: '/assets/{name}',
    access: 'open',
    summary: 'A file that pages load',
    params: z.object({ name: z.string() }),
    problems: [Common.notFound],
    answers: { 200: z.any() },
    handle({ params, acceptsEncodings }) {
      const found = assets().all.get(params.name);
      if (!found) throw Common.notFound();
      if (found.mediaType === 'image/png') return answer(200, new Content(found.mediaType, found.bytes), forGood);
      const coding = acceptsEncodings('br', 'gzip', 'identity');
      if (coding !== 'br' && coding !== 'gzip') return answer(200, new Content(found.mediaType, found.bytes), forGood);
      return answer(200, new Content(found.mediaType, found.packed(coding)), { 'Content-Encoding': coding, ...forGood });
    },
  }),
];
