// Lists that follow: new rows come by server-sent events and wait while the person reads.
import { build, find } from './elements.ts';
import { activeRow } from './rows.ts';

const mostRows = 100;
const topPixels = 160;
const retryMs = 10_000;

export function followLists(): void {
  const list = find('[data-live]');
  const bar = find('[data-live-bar]');
  if (list && bar) follow(list, bar);
}

function follow(list: HTMLElement, bar: HTMLElement): void {
  const [toggle, show, state] = [find('[data-toggle-follow]', bar), find('[data-show-fresh]', bar), find('output', bar)];
  const path = list.dataset['live'] ?? '';
  let source: EventSource | undefined;
  let lastId = '';
  let isFollowing = true;
  let isEnded = false;
  /** By their ids: a connection that comes back may repeat rows. */
  const waiting = new Map<string, HTMLElement>();

  const isReading = () => scrollY > topPixels || list.contains(document.activeElement) || getSelection()?.type === 'Range';

  function open(): void {
    if (source || !isFollowing || document.hidden) return;
    const after = lastId === '' ? '' : `${path.includes('?') ? '&' : '?'}lastEventId=${encodeURIComponent(lastId)}`;
    source = new EventSource(path + after);
    source.addEventListener('row', ({ data, lastEventId }: MessageEvent<string>) => {
      lastId = lastEventId;
      const row = build(JSON.parse(data));
      if (row instanceof HTMLElement) waiting.set(row.dataset['row'] ?? '', row);
      // While one reads for long, the oldest of those that wait are not kept.
      if (waiting.size > mostRows) waiting.delete(waiting.keys().next().value ?? '');
      paint();
    });
    source.addEventListener('open', () => paint());
    source.addEventListener('found', () => paint());
    source.addEventListener('lost', () => paint(true));
    // The list has missed too much, or its session has ended: the page is made anew, and leads to the login where it must.
    source.addEventListener('behind', () => location.reload());
    source.addEventListener('ended', () => location.reload());
    source.addEventListener('error', () => {
      paint(true);
      if (source?.readyState !== EventSource.CLOSED) return;
      // A refusal ends the source, which by itself comes back only from lost connections.
      close();
      void statusOf(path).then((status) => (status === 401 || status === 403 ? stop() : setTimeout(open, retryMs)));
    });
  }

  /** Without a session, or with too small a role, no further try helps. */
  function stop(): void {
    isFollowing = false;
    paint();
    isEnded = true;
    if (toggle) toggle.hidden = true;
    state?.replaceChildren(bar.dataset['ended'] ?? '', ' ', linkHere(bar.dataset['again'] ?? ''));
  }

  function close(): void {
    source?.close();
    source = undefined;
  }

  function insert(): void {
    for (const [id, row] of waiting) {
      find(`:scope > [data-row="${CSS.escape(id)}"]`, list)?.remove();
      row.classList.add('fresh');
      list.prepend(row);
    }
    waiting.clear();
    while (list.childElementCount > mostRows && list.lastElementChild !== activeRow()) list.lastElementChild?.remove();
  }

  function paint(isLost = false): void {
    if (isEnded) return;
    const texts = bar.dataset;
    const isPaused = isReading();
    if (!isPaused) insert();
    if (show) show.hidden = waiting.size === 0;
    if (show) show.textContent = (texts['fresh'] ?? '').replace('#', String(waiting.size));
    if (state) state.textContent = (isLost ? texts['lost'] : !isFollowing ? '' : isPaused ? texts['paused'] : texts['following']) ?? '';
    if (toggle) toggle.textContent = (isFollowing ? texts['pause'] : texts['follow']) ?? '';
  }

  toggle?.addEventListener('click', () => {
    isFollowing = !isFollowing;
    if (isFollowing) open();
    else close();
    paint();
  });
  show?.addEventListener('click', () => {
    scrollTo({ top: 0 });
    insert();
    paint();
  });
  document.addEventListener('visibilitychange', () => (document.hidden ? close() : open()));
  document.addEventListener('scroll', () => paint(), { passive: true });
  document.addEventListener('focusout', () => setTimeout(paint));
  bar.hidden = false;
  open();
  paint();
}

/** To this page, which leads to the login. */
function linkHere(label: string): HTMLAnchorElement {
  const link = document.createElement('a');
  link.href = location.href;
  link.textContent = label;
  return link;
}

/** An event source does not say why it was refused. @returns 0 where there is no answer */
async function statusOf(path: string): Promise<number> {
  const asked = new AbortController();
  try {
    return (await fetch(path, { headers: { Accept: 'text/event-stream' }, signal: asked.signal })).status;
  } catch {
    return 0;
  } finally {
    asked.abort();
  }
}
