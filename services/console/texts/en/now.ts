// English texts of the first page.
export const now = {
  well: 'All is well',
  wellLead: 'Every service is ready, and nothing was given up.',
  notWell: 'Something needs a look',
  notWellLead: 'The marks below show which service, queue or connection.',
  services: 'Services',
  noServices: 'This console has no address and credential of a service.',
  service: 'Service',
  state: 'State',
  names: { relay: 'Webhook relay', intake: 'Webhook intake', digest: 'Link digest', secrets: 'Secrets', bookmarks: 'Bookmarks', listings: 'Listings' },
  states: { ready: 'ready', unready: 'not ready', away: 'does not answer', slow: 'answers too late', refused: 'refuses the console' },
  ofLimit: 'of this month’s limit',
};
