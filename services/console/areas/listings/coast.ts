// The coast of Ireland and of what is beside it, by Natural Earth, as paths of a map.
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { parseJson } from '../../../platform/json.ts';

/** Degrees: west, south, east, north. */
export type Box = readonly [west: number, south: number, east: number, north: number];

/** The whole island. */
export const island: Box = [-10.9, 51.25, -5.2, 55.55];
/** Land outside is of no use to any map of the island. */
const region: Box = [-16, 49, 0, 60];

/** TopoJSON: arcs of quantized steps, which rings of polygons refer to; `~index` is an arc from its end to its start. */
const Topology = z.object({
  transform: z.object({ scale: z.tuple([z.number(), z.number()]), translate: z.tuple([z.number(), z.number()]) }),
  arcs: z.array(z.array(z.tuple([z.number(), z.number()]))),
  objects: z.object({ land: z.object({ geometries: z.array(z.object({ arcs: z.array(z.array(z.array(z.number()))) })) }) }),
});
type Point = readonly [longitude: number, latitude: number];
export type Ring = readonly Point[];

let read: Promise<readonly Ring[]> | undefined;

/** The outlines of the islands of the region. Read at the first map, as the whole earth has 3 MB. */
export const coastlines = (): Promise<readonly Ring[]> => (read ??= readCoast());

async function readCoast(): Promise<Ring[]> {
  const bytes = await readFile(new URL(import.meta.resolve('world-atlas/land-10m.json')));
  const { transform, arcs, objects } = Topology.parse(parseJson(bytes));
  const [scaleX, scaleY] = transform.scale;
  const [left, bottom] = transform.translate;
  const decode = (index: number): Point[] => {
    let [x, y] = [0, 0];
    const points = (arcs[index < 0 ? ~index : index] ?? []).map(([dx, dy]): Point => [(x += dx) * scaleX + left, (y += dy) * scaleY + bottom]);
    return index < 0 ? points.toReversed() : points;
  };
  const [west, south, east, north] = region;
  const isInside = ([longitude, latitude]: Point) => longitude > west && longitude < east && latitude > south && latitude < north;
  // A continent begins outside of the region, an island of it does not.
  return objects.land.geometries.flatMap(({ arcs: polygons }) =>
    polygons.flatMap(([outline = []]) => {
      const [first] = outline;
      return first !== undefined && decode(first).slice(0, 1).every(isInside) ? [outline.flatMap(decode)] : [];
    }),
  );
}

/** Where a place is on a map of a box that is so many units wide: Mercator's projection, for which a small box has the shape of the land. */
export function projection([west, south, east, north]: Box, width: number) {
  const mercator = (latitude: number) => Math.log(Math.tan(Math.PI / 4 + (latitude * Math.PI) / 360));
  const perRadian = width / (((east - west) * Math.PI) / 180);
  const top = mercator(north);
  return {
    width,
    height: Math.round((top - mercator(south)) * perRadian),
    x: (longitude: number) => ((longitude - west) / (east - west)) * width,
    y: (latitude: number) => (top - mercator(latitude)) * perRadian,
  };
}
export type Projection = ReturnType<typeof projection>;

const margin = 20;
/** Points nearer than this many units are one. Coordinates of the path count such steps, which are whole numbers. */
export const pathStep = 0.8;

/** The part of the rings that is in sight, as the `d` of one path. Points outside are moved to a frame around it, where most of them become one. */
export function outlineOf(rings: readonly Ring[], { x, y, width, height }: Projection): string {
  const within = (value: number, most: number) => Math.round(Math.min(most + margin, Math.max(-margin, value)) / pathStep);
  return rings
    .map((ring) => {
      const points: string[] = [];
      for (const [longitude, latitude] of ring) {
        const point = `${within(x(longitude), width)} ${within(y(latitude), height)}`;
        if (point !== points.at(-1)) points.push(point);
      }
      return points.length < 3 ? '' : `M${points.join(' ')}Z`;
    })
    .join('');
}
