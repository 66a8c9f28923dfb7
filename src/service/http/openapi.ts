import * as z from 'zod';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { failure } from '../../remote/protocol/schemas.ts';
import { type Body, isScope, type Parameters, type ApiRoute, ROUTES, schemaOf } from './apiRoutes.ts';
import type { AppContext } from './access/appEnv.ts';

// A client that takes nothing for this long is gone, or was never interested.
const STALLED_MS = 30_000;

/** The OpenAPI description of the service, derived from its routes and the declarations of the protocol. */
export function describeApi(version: string) {
  const paths: Record<string, Partial<Record<ApiRoute['method'], object>>> = {};
  for (const route of Object.values<ApiRoute>(ROUTES)) {
    paths[route.path] = { ...paths[route.path], [route.method]: describeRoute(route) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Farwharf job service', version },
    security: [{ key: [] }],
    components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
    paths,
  };
}

function describeRoute(route: ApiRoute): object {
  const { path, summary, access, accessToOwn, input, output, unavailable, failures = [] } = route;
  const inPath: Parameters = Object.fromEntries(path.matchAll(/\{(\w+)\}/g).map(([, name = '']) => [name, z.string()]));
  const parameters = [
    ...describeParameters('path', { ...inPath, ...route.parameters?.path }),
    ...describeParameters('query', route.parameters?.query),
    ...describeParameters('header', route.parameters?.header),
  ];
  return {
    summary,
    // The scopes of a bearer's key are its roles, as the Security Requirement Object of OpenAPI 3.1 has them.
    ...(access === 'everybody' && { security: [] }),
    ...(isScope(access) && { security: [access, accessToOwn ?? []].flat().map((scope) => ({ key: [scope] })) }),
    ...(accessToOwn && {
      description: `The scope "${accessToOwn}" is enough for a job that was submitted with the same key.`,
    }),
    ...(parameters.length > 0 && { parameters }),
    ...(input && { requestBody: { required: true, ...describeBody(input, 'input') } }),
    responses: {
      [output.status ?? 200]: describeBody(output, 'output'),
      ...(unavailable && { 503: describeBody(unavailable, 'output') }),
      ...refusals(failures),
      ...(path.startsWith('/v1/') && keyRefusals()),
    },
  };
}

function describeParameters(place: 'path' | 'query' | 'header', declarations: Parameters = {}): readonly object[] {
  return Object.entries(declarations).map(([name, declaration]) => {
    const { description, ...schema } = schemaOf(declaration, 'input');
    return {
      name,
      in: place,
      ...(place === 'path' && { required: true }),
      ...(description && { description }),
      schema,
    };
  });
}

function describeBody({ type, description, schema }: Body, io: 'input' | 'output'): object {
  const described = schema instanceof z.ZodType ? schemaOf(schema, io) : schema?.();
  return { ...(description && { description }), content: { [type]: { ...(described && { schema: described }) } } };
}

const refused = (description: string) =>
  describeBody({ type: 'application/json', description, schema: failure }, 'output');
const refusedForNow = (description: string) => ({
  ...refused(description),
  headers: { 'Retry-After': { description: 'Whole seconds', schema: { type: 'integer' } } },
});

function refusals(statuses: readonly number[]): object {
  return Object.fromEntries(statuses.map((status) => [status, refused('Refused')]));
}

/** What refuses every request with a key or an access token: a wrong one, a disabled account or a missing scope, too many requests of its account, a service that is stopping. */
function keyRefusals(): object {
  return {
    ...refusals([401, 403]),
    429: refusedForNow('Too many for this account; try again later'),
    503: refusedForNow(
      'The service is being restarted, try again in a moment; or no job can be started, as the detail says',
    ),
  };
}

/**
 * Responds with the same JSON to everyone. It needs no key, so it is serialized once, all responses share its bytes, and a client that does
 * not read them is disconnected.
 */
export function answerShared(value: () => unknown, stalledMs = STALLED_MS): (context: AppContext) => Response {
  let bytes: Buffer | undefined;
  return (context) => {
    const { outgoing } = context.env;
    bytes ??= Buffer.from(JSON.stringify(value()));
    const headers = { 'Content-Type': 'application/json', 'Content-Length': String(bytes.length) };
    if (context.req.method === 'HEAD') return context.body(null, 200, headers);
    outgoing.setTimeout(stalledMs, () => outgoing.destroy());
    outgoing.writeHead(200, headers).end(bytes);
    return RESPONSE_ALREADY_SENT;
  };
}
