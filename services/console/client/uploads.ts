// Forms with a file: while it is on its way the page says so, with how far it is where the console knows, and takes no second one.
import { memberOf } from './actions.ts';
import { find, findAll } from './elements.ts';

const askMs = 1000;

export function watchUploads(): void {
  for (const form of findAll('form[enctype]')) {
    let asking = 0;
    form.addEventListener('submit', () => {
      showWait(form, true);
      const bar = find('progress', form);
      const path = find('[data-wait]', form)?.dataset['wait'];
      if (bar && path) asking = setInterval(() => void showProgress(bar, path), askMs);
    });
    const end = () => {
      clearInterval(asking);
      showWait(form, false);
    };
    // A browser keeps the page as it is left, for the way back.
    addEventListener('pagehide', end);
    // It says to browsers that have this object when a person, or a lost connection, ends the way to the next page.
    if ('navigation' in window) navigation.addEventListener('navigate', ({ signal }) => signal.addEventListener('abort', end));
  }
}

function showWait(form: HTMLElement, isUnderWay: boolean): void {
  find('[data-wait]', form)?.toggleAttribute('hidden', !isUnderWay);
  find('.primary', form)?.toggleAttribute('disabled', isUnderWay);
}

/** An answer without numbers leaves the bar as it is. */
async function showProgress(bar: HTMLElement, path: string): Promise<void> {
  const found: unknown = await fetch(path)
    .then((response) => response.json())
    .catch(() => undefined);
  const all = Number(memberOf(found, 'all'));
  if (!(all > 0)) return;
  bar.setAttribute('max', String(all));
  bar.setAttribute('value', String(memberOf(found, 'taken')));
}
