// English texts of the area of bookmarks.
export const bookmarks = {
  list: 'Bookmarks, the newest first',
  title: 'Title',
  tags: 'Tags',
  added: 'Added',
  actions: 'Actions',
  delete: 'Delete',
  deleted: (title: string) => `“${title}” is deleted`,
  restored: (title: string) => `“${title}” is back`,
  empty: { title: 'No bookmarks yet', text: 'Import the file that a browser exports:', command: 'signalbox bookmarks import bookmarks.html' },
};
