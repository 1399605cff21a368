// The readiness check of the geocoding worker's heartbeat; the worker may be another process.
import type { Check } from '../../platform/health.ts';
import type { GeocodingStore } from './store.ts';

const freshMs = 5 * 60_000;

/** Ready when the loop ran within the last 5 minutes, whether or not it had work or could do it. */
export const createHeartbeatCheck =
  (store: Pick<GeocodingStore, 'state'>, clock: () => Date): Check =>
  async () => {
    const state = await store.state();
    if (!state) return { ok: false, detail: 'the geocoding worker has not run yet' };
    const agoMs = clock().getTime() - state.ranAt.getTime();
    return agoMs <= freshMs ? { ok: true } : { ok: false, detail: `the geocoding worker ran last ${Math.round(agoMs / 1000)} s ago` };
  };
