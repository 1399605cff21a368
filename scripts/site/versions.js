/* global window, document, fetch, location, Option, URL */
// The choice of a version: a versions.json beside the folders of the versions lists them, the newest first. A site that stands alone has none.
// Readers of a release are not sent to a pre-release, such as 1.0.0-rc.1.
const versionChoice = document.getElementById('version');
const ownVersion = versionChoice.value;
const ownFolder = new URL(`${versionChoice.dataset.root}/`, location.href);
const isRelease = (version) => !version.includes('-');
const addressIn = (version, page) => new URL(`../${version}/${page}`, ownFolder).href;

function offerVersions(versions) {
  if (!versions.includes(ownVersion)) return;
  versionChoice.replaceChildren(...versions.map((version) => new Option(version, version, version === ownVersion, version === ownVersion)));
  versionChoice.addEventListener('change', () => void leadTo(versionChoice.value));
  // The browser may come back to this page and restore the choice that led away.
  window.addEventListener('pageshow', () => (versionChoice.value = ownVersion));
  const newer = versions.slice(0, versions.indexOf(ownVersion));
  const newest = newer.find(isRelease) ?? (isRelease(ownVersion) ? undefined : newer[0]);
  if (newest === undefined) return;
  const link = document.createElement('a');
  link.href = addressIn(newest, 'docs/index.html');
  link.textContent = newest;
  link.addEventListener('click', (event) => {
    event.preventDefault();
    void leadTo(newest);
  });
  const note = document.getElementById('older');
  note.replaceChildren(`These pages are about ${ownVersion}. The newest version is `, link, '.');
  note.hidden = false;
}

/** To the same page; a version that lacks it opens at its index. */
async function leadTo(version) {
  const page = location.href.slice(ownFolder.href.length);
  const { ok } = await fetch(addressIn(version, page), { method: 'HEAD' });
  location.href = addressIn(version, ok ? page : 'docs/index.html');
}

// A page that is opened as a file may fetch nothing.
fetch(new URL('../versions.json', ownFolder))
  .then((response) => (response.ok ? response.json() : []))
  .then(offerVersions, () => undefined);
