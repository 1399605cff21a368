// `signalbox trace`: finds a delivery by asking each place that may have it.
import type { Environment } from '../platform/config/config.ts';
import { describeError } from '../platform/errors.ts';
import { tableOf } from '../platform/process/table.ts';

/** A place that has the delivery; with `isUnknown` a place that could not be asked. */
type Place = { readonly place: string; readonly since?: Date; readonly detail: string; readonly isUnknown?: boolean };

/** @param id of the delivery @throws Error when a place cannot be asked; earlier answers stay valid */
export type Tracer = (environment: Environment, id: string) => AsyncIterable<Place>;

type TraceCommand = { readonly environment: Environment; readonly print: (text: string) => void };

/** @param tracers by the deployable that has them @returns whether a place has it */
export async function trace(id: string, { environment, print }: TraceCommand, tracers: Readonly<Record<string, Tracer>>): Promise<boolean> {
  const places: Place[] = [];
  for (const [name, tracer] of Object.entries(tracers)) {
    try {
      for await (const place of tracer(environment, id)) places.push(place);
    } catch (error) {
      places.push({ place: name, detail: `not asked: ${describeError(error)}`, isUnknown: true });
    }
  }
  const isFound = places.some(({ isUnknown }) => !isUnknown);
  const rows = places.map(({ place, since, detail }) => [place, since && Number.isFinite(since.getTime()) ? since.toISOString() : '', detail]);
  if (rows.length > 0) print(tableOf(['PLACE', 'SINCE', 'DETAIL'], rows));
  const reason = rows.length > 0 ? ' in the places that could be asked' : ': it did not arrive, or its retention is over';
  if (!isFound) print(`no delivery ${id} found${reason}\n`);
  return isFound;
}
