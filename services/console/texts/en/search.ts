// English texts of the search over all areas.
export const search = {
  title: 'Search',
  titleOf: (q: string) => `${q} · Search`,
  all: 'All',
  allIn: (area: string) => `All in ${area}`,
  start: 'Search everything',
  startHint: 'Events, links, listings, bookmarks and applications by their titles, names and addresses.',
  nothing: (q: string) => `Nothing holds “${q}”`,
  nothingNamed: 'Nothing found in titles, names and addresses',
  perhapsDelivery: 'If this is the id of a delivery, see its way.',
  nothingHint: 'The search looks for the words as they are written, in titles, names and addresses.',
};
