// `signalbox digest token`: prints an access token for a machine.
import { z } from 'zod';
import { readSettings } from '../../platform/config/config.ts';
import { readOptions, type Subcommand } from '../../platform/process/subcommand.ts';
import { systemClock } from '../../platform/time.ts';
import { tokenSettings } from '../login/settings.ts';
import { createTokens } from '../login/tokens.ts';

const mostMinutes = 5_256_000;
const Options = z.object({
  minutes: z
    .string()
    .regex(/^\d{1,7}$/, { error: `must be a whole number between 1 and ${mostMinutes}` })
    .transform(Number)
    .refine((minutes) => minutes >= 1 && minutes <= mostMinutes, { error: `must be a whole number between 1 and ${mostMinutes}` })
    .optional(),
});

export const token: Subcommand = {
  summary: 'print an access token of the link digest for a machine',
  examples: ['token', 'token --minutes 525600'],
  options: [{ flags: '--minutes <number>', summary: 'how long it is valid; default: Jwt__ExpiryMinutes, or 60' }],
  settings: tokenSettings,
  isForDataFolder: true,
  async run({ environment, options, print }) {
    const { minutes } = readOptions(Options, options);
    const config = readSettings(environment, tokenSettings);
    const username = config.adminUsername;
    const issued = await createTokens({ config, clock: systemClock }).issue({ subject: username, username, minutes: minutes ?? config.expiryMinutes });
    print(`${issued.token}\n`);
    return 0;
  },
};
