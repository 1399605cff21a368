// The direct sources, one line each: their settings and routes come of it.
export { appveyor } from './appveyor.ts';
export { codacy } from './codacy.ts';
export { deepsource } from './deepsource.ts';
export { dockerhub } from './dockerhub.ts';
export { healthchecks } from './healthchecks.ts';
export { sentry } from './sentry.ts';
export { snyk } from './snyk.ts';
export { sonarcloud } from './sonarcloud.ts';
export { uptimerobot } from './uptimerobot.ts';
export { vercel } from './vercel.ts';
