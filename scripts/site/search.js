/* global window, document, location, URLSearchParams */
// The search of the site, in the browser. Its index is a script, since a page that is opened as a file may fetch nothing.
const options = { fields: ['title', 'page', 'text'], storeFields: ['title', 'page', 'address'] };
const search = window.MiniSearch.loadJSON(window.sections, options);
const input = document.getElementById('search');
const found = document.getElementById('found');

function show() {
  const hits = search.search(input.value, { prefix: true, fuzzy: 0.2, boost: { title: 3, page: 2 }, combineWith: 'AND' }).slice(0, 12);
  const isNothing = hits.length === 0 && input.value.trim() !== '';
  const nothing = document.createElement('li');
  nothing.textContent = 'nothing found';
  found.replaceChildren(
    ...hits.map(({ title, page, address }) => {
      const link = document.createElement('a');
      link.href = `${input.dataset.root}/${address}`;
      link.textContent = title === page ? title : `${page} › ${title}`;
      const item = document.createElement('li');
      item.append(link);
      return item;
    }),
    ...(isNothing ? [nothing] : []),
  );
  found.hidden = hits.length === 0 && !isNothing;
}

input.addEventListener('input', show);
document.addEventListener('keydown', (event) => {
  if (event.key === '/' && document.activeElement !== input) {
    event.preventDefault();
    input.focus();
  }
  if (event.key === 'Escape') found.hidden = true;
  if (event.key === 'Enter' && document.activeElement === input) found.querySelector('a')?.click();
});
const asked = new URLSearchParams(location.search).get('q');
if (asked !== null) {
  input.value = asked;
  show();
}
