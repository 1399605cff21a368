// Copies text to the clipboard: of a block, or of one value of a tree.
import { find, findAll, notify, say } from './elements.ts';

export function watchCopying(): void {
  for (const button of findAll('[data-copy]')) button.hidden = false;
  document.addEventListener('click', ({ target }) => {
    const button = target instanceof Element ? target.closest<HTMLElement>('[data-copy], [data-copy-value], [data-copy-text]') : null;
    if (!button) return;
    const source = button.matches('[data-copy]') ? find('[data-copied]', button.parentElement ?? document) : button.nextElementSibling;
    void copy(button.dataset['copyText'] ?? source?.textContent ?? '');
  });
}

async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    notify(say('copied'), 'good');
  } catch {
    notify(say('uncopied'), 'bad');
  }
}
