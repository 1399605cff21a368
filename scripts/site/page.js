/* global window, document, localStorage, matchMedia, navigator, ResizeObserver */
// A page of the site: a button that copies a block, one that changes between light and dark, and the lists of pages and of the page's parts.
const root = document.documentElement;
const isDark = () => (root.style.colorScheme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';

root.style.colorScheme = localStorage.getItem('scheme') ?? '';
document.getElementById('scheme').addEventListener('click', () => {
  root.style.colorScheme = isDark() ? 'light' : 'dark';
  localStorage.setItem('scheme', root.style.colorScheme);
});

// On a small screen both lists are closed, above the text.
document.querySelector('nav details').open = matchMedia('(min-width: 60em)').matches;
const contents = document.querySelector('aside details');
if (contents !== null && matchMedia('(min-width: 90em)').matches) contents.open = true;

// A table or block that is wider than its place is scrolled by the keyboard, too.
const widths = new ResizeObserver((changes) => {
  for (const { target } of changes)
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    else target.removeAttribute('tabindex');
});
for (const wide of document.querySelectorAll('.wide, main pre')) widths.observe(wide);

for (const block of navigator.clipboard === undefined ? [] : document.querySelectorAll('main pre')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.querySelector('code').textContent);
    button.textContent = 'Copied';
    window.setTimeout(() => (button.textContent = 'Copy'), 2000);
  });
  block.prepend(button);
}
