import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import type { SignInOffer } from '../../../../src/jobs/signIn/signInRecord.ts';

export const HOST = 'https://gpu.example.org';

/** The answer of an endpoint: its status, and a body that is sent as JSON. */
export type Answer = readonly [status: number, body: unknown];
/** Undefined cuts the connection. */
type Endpoint = (parameters: Record<string, string>) => Answer | undefined;

/** An identity provider whose answers the test writes. It offers the endpoints that have one. */
export interface ScriptedProvider {
  readonly offer: SignInOffer;
  readonly issuer: string;
  /** The path and parameters of each request. */
  readonly requests: (readonly [path: string, parameters: Record<string, string>])[];
}

export async function startProvider(
  t: TestContext,
  endpoints: { readonly token?: Endpoint; readonly device?: Endpoint; readonly revoke?: Endpoint },
): Promise<ScriptedProvider> {
  const requests: [string, Record<string, string>][] = [];
  const answer = (path: string, parameters: Record<string, string>): Answer | undefined => {
    if (path.startsWith('/.well-known/')) return [200, metadata];
    requests.push([path, parameters]);
    const endpoint = { '/token': endpoints.token, '/device': endpoints.device, '/revoke': endpoints.revoke }[path];
    return endpoint === undefined ? [404, {}] : endpoint(parameters);
  };
  const server = createServer((request, response) => {
    void (async () => {
      let body = '';
      for await (const chunk of request.setEncoding('utf8') as AsyncIterable<string>) body += chunk;
      const given = answer(request.url ?? '', Object.fromEntries(new URLSearchParams(body)));
      if (given === undefined) request.socket.destroy();
      else response.writeHead(given[0], { 'content-type': 'application/json' }).end(JSON.stringify(given[1]));
    })();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const metadata = {
    issuer,
    ...(endpoints.token && { token_endpoint: `${issuer}/token` }),
    ...(endpoints.device && { device_authorization_endpoint: `${issuer}/device` }),
    ...(endpoints.revoke && { revocation_endpoint: `${issuer}/revoke` }),
  };
  return { offer: { host: HOST, issuer, client_id: 'client', scopes: ['openid', 'jobs'] }, issuer, requests };
}

/** An access token of this audience. Nobody but the service checks its signature. */
export function accessToken(aud: unknown = HOST, more: object = {}): string {
  return ['{"alg":"none"}', JSON.stringify({ aud, ...more }), 'signature']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');
}
