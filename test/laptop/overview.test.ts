import { expect } from 'chai';
import { deployables } from '../../services/command/deployables.ts';
import { overview, sentAs, type Started } from '../../services/laptop/terminal.ts';
import { randomCredential } from '../../services/platform/config/settings.ts';

describe('the overview of npm start', () => {
  async function everything(): Promise<Started[]> {
    return (await deployables.loadAll()).map(({ name, settings, isDescribed = true }, index) => ({
      name,
      isDescribed,
      url: `http://127.0.0.1:${8081 + index}`,
      credentials: Object.fromEntries(
        Object.values(settings)
          .filter(({ generate, isInternal }) => generate && !isInternal)
          .map((setting) => [setting.name, randomCredential()]),
      ),
    }));
  }

  it('says of each credential how it is sent, within 100 columns', async () => {
    const started = await everything();
    const names = started.flatMap(({ credentials }) => Object.keys(credentials));
    expect(Object.keys(sentAs)).to.have.members(names);
    const text = overview(started, { metricsPort: 9090, logFile: '.signalbox/signalbox.log', consoleName: 'admin' });
    for (const line of text.split('\n').slice(2)) expect(line.length, line).to.be.at.most(100);
    expect(text).to.match(/^Bookmarks__ApiKeys +\S+ +X-Api-Key: …$/m);
  });
});
