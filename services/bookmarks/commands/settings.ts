// The settings that the commands read from the environment.
import { secretList, url } from '../../platform/config/settings.ts';

const address = url('SIGNALBOX_BOOKMARKS_URL', ['http', 'https'], { summary: 'Where the bookmark catalogue is' });

export const exportSettings = { address };
export const importSettings = { address, apiKeys: secretList('Bookmarks__ApiKeys', { summary: 'A key that may write; of a list the first is used' }) };
