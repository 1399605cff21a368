// Theme, density and keys change at once; the server keeps them with the account.
import { findAll } from './elements.ts';

const painted = ['theme', 'density', 'keys'];

export function watchAppearance(): void {
  document.addEventListener('submit', (event) => {
    const { submitter: button, target: form } = event;
    if (!(button instanceof HTMLButtonElement && form instanceof HTMLFormElement) || !form.matches('[data-appearance]') || !painted.includes(button.name))
      return;
    event.preventDefault();
    document.documentElement.dataset[button.name] = button.value;
    for (const choice of findAll(`button[name=${button.name}]`, form)) choice.setAttribute('aria-pressed', String(choice === button));
    const fields = [...new FormData(form, button)].flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []));
    void fetch(form.action, { method: 'POST', body: new URLSearchParams(fields), headers: { Accept: 'application/json' } });
  });
}
