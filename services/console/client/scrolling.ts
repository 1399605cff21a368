// Parts of a page that scroll by themselves: tab stops while there is something to scroll to, and only then.
import { findAll } from './elements.ts';

export function watchScrolling(): void {
  const observer = new ResizeObserver((changed) => {
    for (const { target } of changed) {
      const { scrollWidth, clientWidth, scrollHeight, clientHeight } = target;
      if (target instanceof HTMLElement) target.tabIndex = scrollWidth > clientWidth || scrollHeight > clientHeight ? 0 : -1;
    }
  });
  for (const part of findAll(':is(pre, .matrix)[tabindex]')) observer.observe(part);
}
