// Times that are relative to now, such as `3 minutes ago`, follow while a page stays open.
import { findAll } from './elements.ts';
import { relativeTime } from './relative-time.ts';

const everyMs = 30_000;

export function watchAges(): void {
  const { lang, dataset } = document.documentElement;
  // The clock of this machine may be wrong: it only says how long the page has been open.
  const ahead = Date.now() - Date.parse(dataset['now'] ?? '');
  const relative = new Intl.RelativeTimeFormat(lang, { numeric: 'auto' });
  setInterval(() => {
    for (const time of findAll('time[data-ago]')) {
      time.textContent = relativeTime(relative, (Date.parse(time.getAttribute('datetime') ?? '') - Date.now() + ahead) / 1000);
    }
  }, everyMs);
}
