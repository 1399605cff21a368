// The settings that every deployable shares, and those of the process it runs in.
import { addressRanges, choice, integer, optional, origins, secretUrl, url } from './settings.ts';

export const processSettings = {
  metricsPort: integer('METRICS_PORT', { summary: 'Prometheus metrics, and health of what has no public port', min: 0, max: 65_535, default: 9090 }),
  logLevel: choice('LOG_LEVEL', ['fatal', 'error', 'warn', 'info', 'debug', 'trace'], { summary: 'The least level that is logged', default: 'info' }),
  appEnv: choice('APP_ENV', ['production', 'development'], {
    summary: 'In production a stopping service is unready and serves on for 10 s, until load balancers have noticed',
    default: 'production',
  }),
  otlpEndpoint: optional(
    url('OTEL_EXPORTER_OTLP_ENDPOINT', ['http', 'https'], { summary: 'The OTLP receiver that traces are sent to over HTTP, without /v1/traces' }),
  ),
};

export const commonSettings = {
  port: integer('PORT', { summary: 'The public port', min: 0, max: 65_535, default: 8080 }),
  databaseUrl: secretUrl('DATABASE_URL', ['postgres', 'postgresql'], { summary: 'The Postgres database' }),
  trustedProxies: addressRanges('TrustedProxies', {
    summary: 'Addresses and CIDR ranges of proxies whose X-Forwarded-For names the client, by whose address limits count',
    default: [],
  }),
  corsOrigins: origins('Cors__AllowedOrigins', { summary: 'Origins that browsers may call from', default: [] }),
};
