// The pages and actions of the area, in the order in which their paths are tried.
import { changes } from './changes.ts';
import { bookmarkPages as single, entryPages } from './entry.ts';
import { createFilePages } from './files.ts';
import { folderPages } from './folders.ts';
import { list } from './list.ts';
import { tagPages } from './tags.ts';

export const createBookmarkPages = () => [list, ...entryPages, ...createFilePages(), ...tagPages, ...folderPages, ...changes, ...single];
