// Times that are relative to now, such as `3 minutes ago`, follow while a page stays open.
import { findAll } from './elements.ts';

const everyMs = 30_000;
const spans = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

export function watchAges(): void {
  const { lang, dataset } = document.documentElement;
  // The clock of this machine may be wrong: it only says how long the page has been open.
  const ahead = Date.now() - Date.parse(dataset['now'] ?? '');
  const relative = new Intl.RelativeTimeFormat(lang, { numeric: 'auto' });
  setInterval(() => {
    for (const time of findAll('time[data-ago]')) {
      const seconds = (Date.parse(time.getAttribute('datetime') ?? '') - Date.now() + ahead) / 1000;
      const [unit, length] = spans.find(([, span]) => Math.abs(seconds) >= span) ?? ['second', 1];
      time.textContent = relative.format(Math.trunc(seconds / length), unit);
    }
  }, everyMs);
}
