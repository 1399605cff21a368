/* global window, document, localStorage, matchMedia, navigator */
// Two buttons of a page of the site: one copies a block, the other changes between light and dark.
const root = document.documentElement;
const isDark = () => (root.style.colorScheme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';

root.style.colorScheme = localStorage.getItem('scheme') ?? '';
document.getElementById('scheme').addEventListener('click', () => {
  root.style.colorScheme = isDark() ? 'light' : 'dark';
  localStorage.setItem('scheme', root.style.colorScheme);
});

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
