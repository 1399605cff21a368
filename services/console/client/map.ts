// The map with tiles: Leaflet over the places that the page brings. Only a page with tiles loads it; without it the drawn map stays.
import { build, find, findAll } from './elements.ts';

type Layer = { addTo(map: LeafletMap): Layer; on(event: string, listener: () => void): Layer; clearLayers(): Layer; addLayer(layer: Layer): Layer };
type Bounds = { toBBoxString(): string };
type Corners = readonly [southWest: readonly [number, number], northEast: readonly [number, number]];
type LeafletMap = {
  fitBounds(bounds: Corners): LeafletMap;
  getBounds(): Bounds;
  zoomIn(): void;
  zoomOut(): void;
  on(event: string, listener: () => void): LeafletMap;
  readonly scrollWheelZoom: { enable(): void; disable(): void };
};

declare const L: {
  map(element: HTMLElement, options: object): LeafletMap;
  tileLayer(url: string, options: object): Layer;
  layerGroup(): Layer;
  marker(place: readonly [number, number], options: object): Layer;
  divIcon(options: object): object;
};

type TypesFactory = { createPolicy(name: string, rules: { createHTML(text: string): string | null }): unknown };
declare const trustedTypes: TypesFactory | undefined;

/** Leaflet asks whether the browser draws SVG by making this element of text; it may make nothing else of text. */
const allowed = '<svg/>';

const frame = find('[data-map]');
if (frame) void start(frame);

async function start(element: HTMLElement): Promise<void> {
  const { script = '', tiles = '', box = '', places = '' } = element.dataset;
  if (typeof trustedTypes !== 'undefined') trustedTypes.createPolicy('default', { createHTML: (text) => (text === allowed ? text : null) });
  await import(script);
  const drawn = find('.coast');
  drawn?.toggleAttribute('hidden', true);
  element.hidden = false;
  // Leaflet drops what is asked for while it animates a zoom, such as the second of two keys.
  const options = { zoomControl: false, attributionControl: false, zoomAnimation: false, zoomSnap: 0.5, worldCopyJump: true };
  // One finger and the wheel move the page, which a large map would hold otherwise; two fingers, and the wheel with a key, move the map.
  const map = L.map(element, { ...options, dragging: matchMedia('(pointer: fine)').matches, scrollWheelZoom: false });
  const chooseWheel = ({ ctrlKey, metaKey }: WheelEvent) => (ctrlKey || metaKey ? map.scrollWheelZoom.enable() : map.scrollWheelZoom.disable());
  element.addEventListener('wheel', chooseWheel, { capture: true, passive: true });
  const dots = L.layerGroup().addTo(map);
  let hasTiles = false;
  // Tile servers want to know which site asks; they get its origin.
  const layer = L.tileLayer(tiles, { maxZoom: 19, referrerPolicy: 'strict-origin' }).addTo(map);
  layer.on('tileload', () => void (hasTiles = true));
  layer.on('tileerror', () => {
    if (hasTiles) return;
    // No tile has ever come: the drawn map is more than dots on nothing.
    element.hidden = true;
    drawn?.toggleAttribute('hidden', false);
  });
  map.fitBounds(cornersOf(box));
  map.on('moveend', () => {
    if (element.hidden) return;
    const part = map.getBounds().toBBoxString();
    keepInAddress(part);
    void showPlaces(dots, places, part);
  });
  const zooms: Readonly<Record<string, () => void>> = {
    '+': () => map.zoomIn(),
    '-': () => map.zoomOut(),
    '0': () => map.fitBounds(cornersOf(element.dataset['whole'] ?? box)),
  };
  for (const link of findAll('.map > .buttons a')) {
    link.addEventListener('click', (event) => {
      // The drawn map is moved by the links themselves, and other keys open them elsewhere.
      if (element.hidden || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      zooms[link.dataset['key'] ?? '']?.();
    });
  }
  await showPlaces(dots, places, box);
}

/** The way back from a listing, and a filter, lead to the part that was in sight. */
function keepInAddress(box: string): void {
  const here = new URL(location.href);
  here.searchParams.set('bbox', box);
  history.replaceState(history.state, '', here);
  const field = find('.filters > [name=bbox]');
  if (field instanceof HTMLInputElement) field.value = box;
}

/** @param box as an address has it: west, south, east, north */
function cornersOf(box: string): Corners {
  const [west = 0, south = 0, east = 0, north = 0] = box.split(',').map(Number);
  return [
    [south, west],
    [north, east],
  ];
}

let lastAsked = 0;

/** The dots and the list beside the map, for the part that is in sight. A call that fails leaves those of before. */
async function showPlaces(dots: Layer, places: string, box: string): Promise<void> {
  const asked = (lastAsked += 1);
  const found = partsOf(await readJson(`${places}${places.includes('?') ? '&' : '?'}bbox=${encodeURIComponent(box)}`).catch(() => undefined));
  if (found.length === 0 || asked !== lastAsked) return;
  const [all, list, lead] = found;
  dots.clearLayers();
  for (const place of partsOf(all)) {
    const [latitude, longitude, dot] = partsOf(place);
    const icon = L.divIcon({ className: 'map-place', html: build(dot), iconSize: [0, 0] });
    dots.addLayer(L.marker([Number(latitude), Number(longitude)], { icon, interactive: false, keyboard: false }));
  }
  const before = find('.map-and-list > details');
  const after = build(list);
  if (after instanceof HTMLDetailsElement) after.open = before?.hasAttribute('open') ?? true;
  before?.replaceWith(after);
  find('.head .lead')?.replaceChildren(String(lead));
}

/** The answer may be the login page, where the session has ended. */
async function readJson(path: string): Promise<unknown> {
  const response = await fetch(path);
  return response.ok ? response.json() : undefined;
}

function partsOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) return [];
  const parts: readonly unknown[] = value;
  return parts;
}
