// English texts of the own account and of the record of actions.
import { countedIn } from '../plural/counted.ts';

const counted = countedIn('en-GB');

export const me = {
  title: 'Your account',
  sessions: 'Sessions',
  sessionsHint: 'Each browser that is logged in with this account. End those that you do not know, and change the password.',
  browser: 'Browser',
  address: 'Address',
  begun: 'Logged in',
  seen: 'Last used',
  actions: 'Actions',
  thisOne: 'this one',
  end: 'End',
  ended: 'The session is ended',
  endOthers: 'End all others',
  endedOthers: counted({ one: '# session is ended', other: '# sessions are ended' }),
  password: 'Change the password',
  passwordLead: 'All other sessions end with the change.',
  currentPassword: 'Password until now',
  wrongPassword: 'This is not the password.',
  passwordChanged: 'The password is changed, and all other sessions are ended',
  passwordElsewhere: 'The password of this account is not kept here.',
  zone: 'Time zone',
  zoneName: 'City or region',
  zoneHint: 'Times are shown in it, with UTC beside.',
  roles: 'Roles',
  roleNames: { reader: 'Reader', editor: 'Editor', admin: 'Admin' },
  saved: 'Saved',
};

export const record = {
  title: 'Who did what',
  lead: 'Each login and each action, the newest first.',
  at: 'Time',
  person: 'Person',
  area: 'Area',
  action: 'Action',
  target: 'Target',
  outcome: 'Outcome',
  outcomes: { done: 'done', refused: 'refused', failed: 'failed' },
  address: 'Address',
  request: 'Request',
  areas: { access: 'Login', me: 'Own account' },
  empty: 'Nothing was done yet',
};
