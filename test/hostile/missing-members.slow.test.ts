// L3: signed deliveries that lack what a row needs, or name a year that Postgres does not know. One object is left out, never the delivery.
import { expect } from 'chai';
import { examples } from '../services/webhook-intake/deliveries.ts';
import { eventually } from '../support/wait.ts';
import { deadLetters, deliver, metric } from './delivering.ts';
import { type House, type Running, startHouse } from './house.ts';

/** Everywhere in it. */
const without = (payload: object, member: string) => JSON.stringify(payload, (name, value: unknown) => (name === member ? undefined : value));
const inYear = (payload: object, year: string) => JSON.stringify(payload).replaceAll(/"\d{4}(-\d\d-\d\dT[\d:.]+Z)"/g, `"${year}$1"`);

const oneOfEachEvent = [...Map.groupBy(examples, ({ event }) => event).values()].flatMap(([first]) => first ?? []);

const mutations: Readonly<Record<string, (payload: object) => string>> = {
  'without ref': (payload) => without(payload, 'ref'),
  'without number': (payload) => without(payload, 'number'),
  'without login': (payload) => without(payload, 'login'),
  'without full_name': (payload) => without(payload, 'full_name'),
  // Without an id there is no object that could be left out.
  'with no id': (payload) => without(payload, 'id'),
  'in the year -1': (payload) => inYear(payload, '-000001'),
  'in the year 275000': (payload) => inYear(payload, '+275000'),
};

describe('deliveries that lack a member', function () {
  this.timeout(120_000);
  let house: House;
  let worker: Running;
  before(async () => {
    house = await startHouse({ services: ['webhook-relay'] });
    worker = await house.startWorker('database-service');
  });
  after(() => house.close());

  const handled = (outcome: string) => metric(worker, new RegExp(`signalbox_intake_deliveries_total\\{queue="forge-database",outcome="${outcome}"\\}`));
  const leftOut = () => metric(worker, /signalbox_intake_objects_left_out_total\{table="\w+"\}/);
  let sent = 0;

  for (const [name, mutate] of Object.entries(mutations)) {
    it(`are stored ${name}, and what lacks it is left out and counted`, async () => {
      const before = await leftOut();
      for (const { event, payload } of oneOfEachEvent) {
        const { status } = await deliver(house, Buffer.from(mutate(payload)), { 'X-GitHub-Event': event });
        expect(status, event).to.equal(202);
        sent += 1;
      }
      await eventually(async () => (await handled('stored')) + (await handled('unreadable')) === sent, { withinMs: 60_000 });
      if (name.startsWith('without')) expect(await leftOut(), 'objects left out').to.be.above(before);
    });
  }

  it('are never refused, and none is a dead letter', async () => {
    expect([await handled('refused'), await handled('unreadable'), await deadLetters(house)]).to.deep.equal([0, 0, []]);
  });
});
