// Assembles the HTTP app of the bookmark catalogue.
import { type App, createApp } from '../platform/http/app.ts';
import { createAddressOf } from '../platform/client-address.ts';
import type { Health } from '../platform/health.ts';
import { authorization, headerGuard } from '../platform/http/credentials.ts';
import { createPublicFetch } from '../platform/http/public-fetch.ts';
import { asksDatabase, tagged } from '../platform/http/route.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Database } from '../platform/postgres/pool.ts';
import { type SnapshotLimits, usualSnapshotLimits } from '../platform/postgres/snapshots.ts';
import { systemClock } from '../platform/time.ts';
import { version } from '../platform/version.ts';
import { bookmarkRoutes } from './bookmarks.ts';
import type { BookmarksConfig } from './config.ts';
import { fileRoutes } from './files/files.ts';
import { createImporter } from './files/import.ts';
import { folderRoutes } from './folders.ts';
import { karakeepRoutes, karakeepTag } from './karakeep/karakeep.ts';
import { createCheckStore } from './dead-links/store.ts';
import { duplicatesRoute } from './duplicates/duplicates.ts';
import { createDuplicateStore } from './duplicates/store.ts';
import { feedRoute } from './lists/feed.ts';
import { listRoutes } from './lists/lists.ts';
import { createCatalogueSnapshots, createListStore } from './lists/store.ts';
import { manyRoutes, tagRoutes } from './many/many.ts';
import { measureDeadLinks } from './metrics.ts';
import { createPages } from './pages/pages.ts';
import { previewRoute } from './pages/preview.ts';
import { createStore } from './store.ts';
import { undoRoute } from './undo/undo.ts';

const key = { description: 'A value of `Bookmarks__ApiKeys`.' };

export type BookmarksParts = {
  readonly config: BookmarksConfig;
  readonly database: Database;
  /** A pool of its own: writes take turns, and a waiting write must not take a connection from reads. */
  readonly writeDatabase: Database;
  /** Aborts requests to pages. */
  readonly stopping: AbortSignal;
  readonly health: Health;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock?: () => Date;
  readonly snapshotLimits?: SnapshotLimits;
};

export function createBookmarksApp(parts: BookmarksParts): App {
  const { config, database, writeDatabase, stopping, health, log, metrics, clock = systemClock, snapshotLimits = usualSnapshotLimits } = parts;
  const store = createStore(database, writeDatabase);
  const pages = createPages(createPublicFetch(config.allowedAddresses), { log, stopping });
  const listStore = createListStore(database);
  measureDeadLinks(createCheckStore(database), metrics);
  const openSnapshot = createCatalogueSnapshots(database, snapshotLimits);
  return createApp({
    description: { title: 'bookmarks', summary: 'Keeps bookmarks in folders, searches them, and imports and exports files of browsers.', version },
    routes: [
      ...tagged({ name: 'Lists', description: 'All bookmarks, folders and tags; a caller that has a list can ask whether it changed' }, [
        ...listRoutes(listStore, openSnapshot),
        feedRoute(listStore),
        duplicatesRoute(createDuplicateStore(database)),
      ]),
      ...tagged({ name: 'Bookmarks', description: 'One bookmark at a time' }, [...bookmarkRoutes({ store, pages, clock }), previewRoute(pages, listStore)]),
      ...tagged({ name: 'Many', description: 'Many bookmarks at once, and tags of all bookmarks' }, [
        ...manyRoutes(store),
        ...tagRoutes(store),
        undoRoute(store),
      ]),
      ...tagged({ name: 'Folders', description: 'One folder at a time' }, folderRoutes(store, clock)),
      ...tagged({ name: 'Files', description: 'Bookmark files of browsers' }, fileRoutes(createImporter(store, clock), openSnapshot)),
      ...(config.karakeep === 'on' ? tagged(karakeepTag, karakeepRoutes({ store, listStore, clock })) : []),
    ].map(asksDatabase),
    areas: [
      { prefix: '/api', guard: headerGuard(config.apiKeys, 'X-Api-Key', { ...key, ofConsole: config.consoleKeys }) },
      ...(config.karakeep === 'on' ? [{ prefix: '/karakeep', guard: authorization('Bearer', config.apiKeys, key) } as const] : []),
    ],
    health,
    log,
    metrics,
    addressOf: createAddressOf(config.trustedProxies),
    corsOrigins: config.corsOrigins,
  });
}
