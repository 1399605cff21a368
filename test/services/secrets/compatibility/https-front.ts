// HTTPS before a service, as an ingress gives it, under any host: a CONNECT proxy leads every client to it, so that none of them is changed.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Server } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import type { Duplex } from 'node:stream';
import { temporaryDirectory } from '../../../support/guard.ts';

export type HttpsFront = {
  /** For the environment of a client in Node, Python or Go. */
  readonly environment: Readonly<Record<string, string>>;
  close(): void;
};

/** Names below example.test and vault.example.test. */
export async function startHttpsFront(serviceUrl: string): Promise<HttpsFront> {
  const directory = temporaryDirectory('https-front');
  const [certificate, key] = ['certificate.pem', 'key.pem'].map((name) => join(directory, name));
  if (certificate === undefined || key === undefined) throw new TypeError('two names are two paths');
  const extensions = 'subjectAltName=DNS:*.example.test,DNS:*.vault.example.test,DNS:example.test';
  const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=example.test', '-addext', extensions];
  execFileSync('openssl', [...request, '-out', certificate, '-keyout', key], { stdio: 'ignore' });
  const to = (port: number | string) => (from: Duplex) => void couple(from, connect(Number(port), '127.0.0.1'));
  const tls = createTlsServer({ cert: readFileSync(certificate), key: readFileSync(key) }, to(new URL(serviceUrl).port));
  const tlsPort = await portOf(tls);
  const proxy = createServer();
  proxy.on('connect', (_, socket: Duplex) => {
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    to(tlsPort)(socket);
  });
  const address = `http://127.0.0.1:${await portOf(proxy)}`;
  const trusted = { NODE_EXTRA_CA_CERTS: certificate, REQUESTS_CA_BUNDLE: certificate, SSL_CERT_FILE: certificate };
  return {
    environment: { ...trusted, HTTPS_PROXY: address, https_proxy: address, NO_PROXY: '', no_proxy: '' },
    close: () => [tls, proxy].forEach((server) => server.close()),
  };
}

function couple(one: Duplex, other: Duplex): void {
  one.pipe(other).pipe(one);
  for (const end of [one, other]) end.on('error', () => [one, other].forEach((each) => each.destroy()));
}

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port; // a TCP server, listening
}
