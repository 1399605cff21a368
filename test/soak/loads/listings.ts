// Listings whose rents change: the last promised rent stands, and each new listing and each change of a rent is an event of the log once.
import { listing } from '../../services/listings/service.ts';
import { ask, createStates, createTotals, createTurns, type Load, outcomeOf } from '../load.ts';
import type { Random } from '../random.ts';

const listings = 500;
const rents = [1500, 1600, 1700, 1800] as const;

type Parts = { readonly url: string; readonly token: string; readonly perSecond: number; readonly random: Random };
type Row = { readonly sourceId: string; readonly rent: number; readonly changes: number };

export function createListings({ url, token, perSecond, random }: Parts): Load {
  const states = createStates<number>();
  const totals = createTotals();
  const inTurn = createTurns();
  return {
    name: 'listings',
    perSecond,
    atOnce: 10,
    step() {
      const sourceId = `soak-${random.below(listings)}`;
      return inTurn(sourceId, async () => {
        const rent = random.pick(rents);
        const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` };
        const body = JSON.stringify([listing(sourceId, { priceMonthly: rent })]);
        const outcome = outcomeOf(await ask('POST', `${url}/api/ingest/properties`, { headers, body }));
        states.changed(sourceId, rent, outcome);
        totals.add(outcome);
      });
    },
    counts: totals.text,
    async balance(database) {
      const stored = await database.query<Row>(`select source_id as "sourceId", price_monthly::float as rent,
          (select count(*) from listings.price_history where property_id = properties.id)::int - 1 as changes
        from listings.properties where source_id like 'soak-%'`);
      const told = await database.query<{ event: string; sourceId: string; times: number }>(
        `select event, convert_from(body, 'UTF8')::json -> 'data' ->> 'sourceId' as "sourceId", count(*)::int as times
         from intake.events join intake.event_payloads on event_id = events.id where source = 'signalbox' and event like 'listing.%' group by 1, 2`,
      );
      const eventsOf = (event: string, sourceId: string) => told.rows.find((row) => row.event === event && row.sourceId === sourceId)?.times ?? 0;
      const bySource = new Map(stored.rows.map((row) => [row.sourceId, row]));
      return states.keys().flatMap((sourceId) => {
        const row = bySource.get(sourceId);
        const allowed = states.allowed(sourceId);
        if (!row) return allowed.has(undefined) ? [] : [`listing ${sourceId} is missing`];
        const changes = eventsOf('listing.price_changed', sourceId);
        return [
          ...(allowed.has(row.rent) ? [] : [`listing ${sourceId} costs ${row.rent}, and not ${[...allowed].join(' or ')}`]),
          ...(eventsOf('listing.created', sourceId) === 1 ? [] : [`${eventsOf('listing.created', sourceId)} events tell of the new listing ${sourceId}`]),
          ...(changes === row.changes ? [] : [`${changes} events tell of ${row.changes} changes of the rent of ${sourceId}`]),
        ];
      });
    },
  };
}
