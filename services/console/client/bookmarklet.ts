// The bookmark that opens the form for any page: with the address by which this browser reaches the console.
import { find } from './elements.ts';

export function completeBookmarklet(): void {
  const part = find('[data-bookmarklet]');
  if (!part) return;
  const opening = (part.dataset['bookmarklet'] ?? '').replace('#', location.origin);
  find('a', part)?.setAttribute('href', opening);
  find('code', part)?.replaceChildren(opening);
  part.hidden = false;
}
