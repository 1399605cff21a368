// English texts of logging in, of refusals, and of the record of actions.
export const access = {
  login: {
    title: 'Log in',
    again: 'Log in once more',
    againLead: 'This needs a login of the last ten minutes.',
    name: 'Name',
    password: 'Password',
    submit: 'Log in',
    wrong: 'The name or the password is wrong.',
    tooMany: 'Too many failed logins. Try again in a quarter of an hour.',
    needsTls: 'A browser keeps a login only over HTTPS, or at an address of its own machine such as localhost.',
  },
  formFaults: 'Some entries are not valid.',
  faults: {
    service: 'A service does not answer',
    refused: 'That was refused',
    home: 'To the first page',
    crossSite: { title: 'The request came from another site', hint: 'The console takes changes from its own pages only. Open the page here and try again.' },
    roleMissing: { title: 'Your role does not allow this', hint: 'A person with the role admin of the area system can change it.' },
    missing: { title: 'There is nothing here', hint: 'It was deleted, or the address is wrong.' },
    loggedOut: { title: 'You are logged out', hint: 'Log in, then do it once more: nothing was changed.' },
    busy: { title: 'The service takes no more requests now', hint: 'Try again in a moment.' },
    failed: { title: 'The console failed', hint: 'Its log has the reason under the id of this request.' },
    unavailable: { title: 'The console’s database does not answer', hint: 'Try again in a moment.' },
  },
};
