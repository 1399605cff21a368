// The script adds to pages that work without it: keys, actions in place with undo, lists and times that follow, copying.
import { watchActions } from './actions.ts';
import { watchAges } from './ages.ts';
import { watchAppearance } from './appearance.ts';
import { completeBookmarklet } from './bookmarklet.ts';
import { watchCopying } from './copying.ts';
import { completeNotice } from './elements.ts';
import { watchKeys } from './keys.ts';
import { followLists } from './live.ts';
import { watchSelection } from './rows.ts';
import { watchScrolling } from './scrolling.ts';
import { watchUploads } from './uploads.ts';

completeNotice();
completeBookmarklet();
watchSelection();
watchActions();
watchKeys();
watchCopying();
watchAppearance();
watchScrolling();
watchUploads();
watchAges();
followLists();
