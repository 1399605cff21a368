// Forms with a file: while it is on its way the page says so, with how far it is where the console knows, and takes no second one.
import { find, findAll } from './elements.ts';

const askMs = 1000;

export function watchUploads(): void {
  for (const form of findAll('form[enctype]')) {
    form.addEventListener('submit', () => {
      const wait = find('[data-wait]', form);
      wait?.removeAttribute('hidden');
      find('.primary', form)?.setAttribute('disabled', '');
      const bar = find('progress', form);
      const path = wait?.dataset['wait'];
      if (bar && path) setInterval(() => void showProgress(bar, path), askMs);
    });
  }
}

/** An answer without numbers leaves the bar as it is. */
async function showProgress(bar: HTMLElement, path: string): Promise<void> {
  const response = await fetch(path).catch(() => undefined);
  const found: unknown = response?.ok ? await response.json() : undefined;
  const [taken, all] = ['taken', 'all'].map((name) => Number(new Map<string, unknown>(Object.entries(found ?? {})).get(name)));
  if (taken === undefined || all === undefined || !(all > 0)) return;
  bar.setAttribute('max', String(all));
  bar.setAttribute('value', String(taken));
}
