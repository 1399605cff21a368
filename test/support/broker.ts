// A broker with its topology, for the tests of one suite.
import type { Broker, Topology } from '../../services/platform/broker/broker.ts';
import { connectBroker } from '../../services/platform/broker/connect.ts';
import { silentLog } from '../../services/platform/log.ts';

/** Where a broker is: a database, or a virtual host of RabbitMQ. */
export type Place = { readonly url: string; drop(): Promise<void> };

/** A hook of its own closes the broker: end what uses it in a hook that is registered before this call. */
export function useBroker(createPlace: () => Promise<Place>, topology: Topology) {
  let place: Place | undefined;
  let broker: Broker | undefined;
  before(async function () {
    this.timeout(120_000);
    place = await createPlace();
    broker = connectBroker(place.url, topology, { log: silentLog, name: 'test' });
    await broker.ready(60_000);
  });
  after(async () => {
    await broker?.close();
    await place?.drop();
  });
  const running = () => {
    if (!place || !broker) throw new TypeError('the broker is there only while its tests run');
    return { place, broker };
  };
  return {
    get url() {
      return running().place.url;
    },
    get broker() {
      return running().broker;
    },
  };
}
