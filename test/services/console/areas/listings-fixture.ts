// Listings for the tests of the console's area of them: a real service with a few flats around Dublin and Cork.
import { ask, fill, migrations, startService, token, type TestService } from '../../listings/service.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.ts';
import { useConsole } from '../service.ts';

export const hostile = `"><script>alert(1)</script><img src=x onerror=alert(2)>`;

const flat = (sourceId: string, address: string, more: Readonly<Record<string, unknown>> = {}) => ({
  sourceId,
  sourceUrl: `https://www.daft.ie/for-rent/${sourceId}/${sourceId.length}`,
  address,
  priceMonthly: 2100,
  beds: 2,
  baths: 1,
  propertyType: 'Apartment',
  ...more,
});

export const flats = [
  flat('quay', '12 Quay Street, Dublin 2', {
    eircode: 'D02 X285',
    berRating: 'B3',
    latitude: 53.3437,
    longitude: -6.2546,
    mainImageUrl: 'https://pictures.example/quay.jpg',
  }),
  flat('quay-2', 'No. 12 Quay St., Dublin 2', {
    sourceUrl: 'https://www.rent.example/42',
    eircode: 'D02 X285',
    priceMonthly: 2120,
    latitude: 53.3438,
    longitude: -6.2545,
  }),
  flat('canal', '3 Canal Row, Dublin 4', { eircode: 'D04 A212', priceMonthly: 1850, beds: 1, berRating: 'A2', latitude: 53.331, longitude: -6.239 }),
  flat('house', '7 Sea View, Blackrock', {
    eircode: 'A94 XY12',
    priceMonthly: 3200,
    beds: 4,
    baths: 2,
    propertyType: 'House',
    latitude: 53.301,
    longitude: -6.178,
  }),
  flat('studio', '88 Parnell Street, Dublin 1', {
    priceMonthly: 1400,
    beds: 0,
    propertyType: 'Studio',
    routingKey: 'D01',
    latitude: 53.3525,
    longitude: -6.263,
  }),
  flat('cork', '5 Patrick Hill, Cork', { eircode: 'T23 KK34', priceMonthly: 1650, latitude: 51.902, longitude: -8.471 }),
];

/** A console before a real service; each test begins with these flats in the inbox and no presets. */
export function useListings(environment: Readonly<Record<string, string>> = {}) {
  let database: TestDatabase;
  let service: TestService;
  let ids: Record<string, string> = {};
  const console = useConsole(async () => {
    database = await createTestDatabase({ schema: 'listings', migrations });
    service = await startService({ databaseUrl: database.url });
    return { environment: { Console__ListingsUrl: service.url, Console__ListingsToken: token, ...environment } };
  });
  beforeEach(async () => {
    await service.database.driver.query('truncate presets');
    ids = await fill({ url: service.url, service }, flats);
  });
  after(async () => {
    await service.close();
    await database.drop();
  });
  const call = (method: string, path: string, body?: unknown) => ask(service.url, { method, path, body });
  return {
    console,
    call,
    query: async (sql: string, values: unknown[] = []) => (await service.database.driver.query(sql, values)).rows,
    /** @param sourceId of a flat */
    idOf: (sourceId: string) => ids[sourceId] ?? '',
    ingest: (listings: readonly object[]) => call('POST', '/api/ingest/properties', listings),
    /** @returns its id */
    async preset(more: Readonly<Record<string, unknown>>): Promise<string> {
      const { body } = await call('POST', '/api/presets', { name: 'Mine', routingKeys: [], propertyTypes: [], ...more });
      return String(Object(body).id);
    },
    statusOf: async (sourceId: string): Promise<string> =>
      (await service.database.driver.query('select status from properties where source_id = $1', [sourceId])).rows[0]?.status,
    token,
  };
}
