// `helm test`: delivers a signed webhook to the relay, and waits until the dashboard API shows it, then asks for the console's login. Runs in the chart's own image.
import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const { RELAY_URL, INTAKE_URL, CONSOLE_URL, Forge__WebhookSecrets, Intake__AccessTokens, TIMEOUT_SECONDS } = process.env;
const firstOf = (list) => list.split(',')[0].trim();
const deadline = Date.now() + Number(TIMEOUT_SECONDS) * 1000;

/** What `attempt` gives; it is tried again while it throws, until the deadline. */
async function eventually(what, attempt) {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > deadline) throw new Error(`${what}: ${error.message} (${error.cause?.code ?? 'no cause given'})`);
      await sleep(1000);
    }
  }
}

async function expectStatus(status, response) {
  if (response.status === status) return response.json();
  throw new Error(`answered ${response.status}: ${await response.text()}`);
}

const deliveryId = randomUUID();
// Equal bytes would be a duplicate of the test before: the delivery has no id of a hook.
const body = JSON.stringify({
  action: 'opened',
  issue: { number: 1, title: `helm test ${deliveryId}`, state: 'open', user: { login: 'helm-test', type: 'User' } },
  repository: { id: 1, name: 'helm-test', full_name: 'signalbox/helm-test', owner: { login: 'signalbox' } },
  sender: { id: 1, login: 'helm-test', type: 'User' },
});
const headers = {
  'Content-Type': 'application/json',
  'X-Forge-Event': 'issues',
  'X-Forge-Delivery': deliveryId,
  'X-Hub-Signature-256': `sha256=${createHmac('sha256', firstOf(Forge__WebhookSecrets)).update(body).digest('hex')}`,
};

const accepted = await eventually('relay', async () => expectStatus(202, await fetch(`${RELAY_URL}/Forge`, { method: 'POST', headers, body })));
console.log(`relay   202  ${accepted.id}`);

const event = await eventually('intake', async () => {
  const answer = await fetch(`${INTAKE_URL}/api/v1/events?limit=50`, { headers: { Authorization: `token ${firstOf(Intake__AccessTokens)}` } });
  const found = (await expectStatus(200, answer)).items.find((item) => item.deliveryId === deliveryId);
  if (!found) throw new Error(`delivery ${deliveryId} is not in the event log yet`);
  return found;
});
console.log(`intake  200  /api/v1/events/${event.id}`);

if (CONSOLE_URL) {
  await eventually('console', async () => {
    const { status } = await fetch(`${CONSOLE_URL}/login`);
    if (status !== 200) throw new Error(`answered ${status}`);
  });
  console.log('console 200  /login');
}
