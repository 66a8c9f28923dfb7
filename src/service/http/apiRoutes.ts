import * as z from 'zod';
import {
  account,
  artifactEventData,
  cancellation,
  endEventData,
  flowEventData,
  health,
  job,
  jobCreated,
  jobList,
  logEventData,
  stateEventData,
  submissionStatus,
  usageEventData,
} from '../../remote/protocol/schemas.ts';
import { freezeEventData, freezeExtension } from '../../remote/protocol/debugging.ts';
import { environmentList } from '../../remote/protocol/environment.ts';
import { secretBody, secretChange, secretList, secretName } from '../../remote/protocol/secret.ts';
import { SIGN_IN_PATH, signInDescription } from '../../remote/protocol/signInDescription.ts';
import { submission } from '../../remote/protocol/jobTerms.ts';
import { TUNNEL_PROTOCOL } from '../../remote/tunnel/tunnelProtocol.ts';
import type { KeyScope } from '../store/accounts/apiKeys.ts';
import type { App, AppContext } from './access/appEnv.ts';
import { requireScope } from './access/keyScopes.ts';

const DEFAULT_LIST = 50;
/** How many jobs one request lists. */
export const MAX_LIST = 500;

/** The body of a request or a response. */
export interface Body {
  readonly type: string;
  readonly description?: string;
  /** A declaration, or a function that returns the JSON schema of what no declaration describes. */
  readonly schema?: z.ZodType | (() => object);
}

/** Declarations by the names of the parameters. */
export type Parameters = Readonly<Record<string, z.ZodType>>;

/** What a program needs to know of a route, and what registers and describes it. */
export interface ApiRoute {
  readonly method: 'get' | 'post' | 'put' | 'delete';
  readonly path: string;
  readonly summary: string;
  /** Who may use it: everybody, those who may read the metrics, each key of an account, or keys with a scope. */
  readonly access: 'everybody' | 'metrics' | 'account' | KeyScope;
  /** The scope that is enough for jobs that were submitted with the same key. */
  readonly accessToOwn?: KeyScope;
  /** Parts of the path have any text if they are not here. */
  readonly parameters?: { readonly path?: Parameters; readonly query?: Parameters; readonly header?: Parameters };
  readonly input?: Body;
  /** With a declaration, the handler returns what is sent as JSON. Otherwise it returns the response. */
  readonly output: Body & { readonly status?: 101 | 201 };
  /** The body with the status 503. */
  readonly unavailable?: Body;
  /** The statuses of refusals beside those of every request with a key. */
  readonly failures?: readonly number[];
}

/** The JSON schema of a declaration. */
export function schemaOf(declaration: z.ZodType, io: 'input' | 'output') {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(declaration, { io });
  return schema;
}

const json = <Schema extends z.ZodType>(description: string, schema: Schema) => ({
  type: 'application/json',
  description,
  schema,
});
const binary = (description: string) => ({ type: 'application/octet-stream', description });

const submissionForm = () => ({
  type: 'object',
  required: ['meta'],
  oneOf: [{ required: ['tarball'] }, { required: ['contents'] }],
  properties: {
    tarball: { type: 'string', contentMediaType: 'application/gzip' },
    contents: {
      type: 'string',
      contentMediaType: 'application/octet-stream',
      description: 'in place of the tarball: the SHA-256 of each list of pieces of its tar stream, in order',
    },
    meta: { type: 'string', contentMediaType: 'application/json', contentSchema: schemaOf(submission, 'input') },
  },
});

const event = (name: string, data: z.ZodType) => ({
  type: 'object',
  required: ['id', 'event', 'data'],
  properties: { id: { type: 'integer' }, event: { const: name }, data: schemaOf(data, 'output') },
});
const eventStream = () => ({
  oneOf: [
    event('state', stateEventData),
    event('log', logEventData),
    event('flow', flowEventData),
    event('usage', usageEventData),
    event('freeze', freezeEventData),
    event('artifact', artifactEventData),
    event('end', endEventData),
  ],
});

const pieceNames = binary('SHA-256 hashes, 32 bytes each, up to 16,384');
const lackingBits = binary('A bit for each hash, the lowest of each byte first: 1 if it is lacking');

/** Every route of the service but those of its page for people: its handler and its description come from here. */
export const ROUTES = {
  account: {
    method: 'get',
    path: '/v1/me',
    summary: 'The account',
    access: 'account',
    output: json('Credits and prices', account),
  },
  listJobs: {
    method: 'get',
    path: '/v1/jobs',
    summary: 'The newest jobs',
    access: 'read',
    parameters: {
      query: {
        limit: z.coerce.number().int().min(1).max(MAX_LIST).default(DEFAULT_LIST),
        before: z.string().optional().describe('The ID of a job; the list begins after it'),
      },
    },
    output: json('Jobs, newest first', jobList),
    failures: [400, 404],
  },
  submitJob: {
    method: 'post',
    path: '/v1/jobs',
    summary: 'Submit a workspace as a job',
    access: 'submit',
    parameters: {
      header: {
        'Idempotency-Key': z
          .string()
          .describe('A new key for each submission, which then becomes one job however often it is sent'),
        'Upload-Offset': z
          .int()
          .min(0)
          .describe('Bytes of the archive that the service already has; the tarball has the rest'),
      },
    },
    input: { type: 'multipart/form-data', schema: submissionForm },
    output: { status: 201, ...json('Accepted', jobCreated) },
    failures: [400, 402, 409, 413, 415, 422, 424, 507],
  },
  submissionStatus: {
    method: 'get',
    path: '/v1/submissions/{key}',
    summary: 'What became of the submission with this Idempotency-Key',
    access: 'submit',
    output: json('Its status', submissionStatus),
    failures: [400],
  },
  lackingPieces: {
    method: 'post',
    path: '/v1/contents/lacking',
    summary: 'Which pieces the account lacks',
    access: 'submit',
    input: pieceNames,
    output: lackingBits,
    failures: [400, 413],
  },
  lackingLists: {
    method: 'post',
    path: '/v1/contents/lacking-lists',
    summary: 'Which lists of pieces the account lacks, or a piece in them',
    access: 'submit',
    input: pieceNames,
    output: lackingBits,
    failures: [400, 413],
  },
  addPieces: {
    method: 'post',
    path: '/v1/contents/pieces',
    summary: 'Send pieces',
    access: 'submit',
    input: binary(
      'For each piece its SHA-256, the length of the Zstandard frame as 32 bits (little-endian), and the frame; a piece has up to 256 KB, a body up to 16 MB and 4,096 pieces',
    ),
    output: binary('Nothing'),
    failures: [400, 413, 507],
  },
  environments: {
    method: 'get',
    path: '/v1/environments',
    summary: 'What jobs of the account built for later ones',
    access: 'submit',
    output: json('The complete environments', environmentList),
  },
  listSecrets: {
    method: 'get',
    path: '/v1/secrets',
    summary: 'The secrets of the account, without their values',
    access: 'secrets',
    output: json('Names, and when each was set', secretList),
  },
  setSecret: {
    method: 'put',
    path: '/v1/secrets/{name}',
    summary: 'Set a secret, which jobs with its name in meta.secrets get as a variable',
    access: 'secrets',
    parameters: { path: { name: secretName } },
    input: json('The value', secretBody),
    output: json('It is set', secretChange),
    failures: [400, 413],
  },
  removeSecret: {
    method: 'delete',
    path: '/v1/secrets/{name}',
    summary: 'Remove a secret',
    access: 'secrets',
    parameters: { path: { name: secretName } },
    output: json('It is removed', secretChange),
    failures: [400, 404],
  },
  job: {
    method: 'get',
    path: '/v1/jobs/{job_id}',
    summary: 'One job',
    access: 'read',
    output: json('The job', job),
    failures: [404],
  },
  cancelJob: {
    method: 'delete',
    path: '/v1/jobs/{job_id}',
    summary: 'Cancel a job',
    access: 'cancel',
    accessToOwn: 'submit',
    output: json('Its state', cancellation),
    failures: [404],
  },
  events: {
    method: 'get',
    path: '/v1/jobs/{job_id}/events',
    summary: 'The events of a job, as they happen',
    access: 'read',
    parameters: {
      header: { 'Last-Event-ID': z.int().min(0).describe('The ID of the last event that the client has') },
    },
    output: { type: 'text/event-stream', description: 'One event after another', schema: eventStream },
    failures: [400, 404],
  },
  connect: {
    method: 'get',
    path: '/v1/jobs/{job_id}/connect',
    summary: 'Connect to a running job: a WebSocket whose binary messages carry the streams of a tunnel',
    access: 'connect',
    parameters: {
      header: {
        'Sec-WebSocket-Protocol': z.literal(TUNNEL_PROTOCOL).describe('The protocol of the tunnel'),
      },
    },
    output: { status: 101, type: 'application/octet-stream', description: 'The tunnel' },
    failures: [404, 409, 426],
  },
  extendFreeze: {
    method: 'post',
    path: '/v1/jobs/{job_id}/freeze',
    summary: 'Let a frozen job wait for a debugger longer',
    access: 'connect',
    input: json('How much longer', freezeExtension),
    output: json('The job, whose `frozen.until` follows within a second', job),
    failures: [400, 402, 404, 409, 413],
  },
  endFreeze: {
    method: 'delete',
    path: '/v1/jobs/{job_id}/freeze',
    summary: 'Let a frozen job continue, which ends as it would have without a debugger',
    access: 'connect',
    output: json('The job', job),
    failures: [404, 409],
  },
  results: {
    method: 'get',
    path: '/v1/jobs/{job_id}/artifacts',
    summary: 'The results of a job',
    access: 'read',
    output: { type: 'application/gzip', description: 'A tar.gz archive' },
    failures: [404, 409],
  },
  resultRecords: {
    method: 'get',
    path: '/v1/jobs/{job_id}/artifacts/contents',
    summary: 'The pieces of the tar stream of the results',
    access: 'read',
    output: binary('For each piece, in order, its SHA-256 and its size as 32 bits (little-endian)'),
    failures: [404, 409],
  },
  resultPieces: {
    method: 'post',
    path: '/v1/jobs/{job_id}/artifacts/contents',
    summary: 'Some of these pieces',
    access: 'read',
    input: binary('A bit for each piece, the lowest of each byte first: 1 if it is wanted'),
    output: binary(
      'For each wanted piece, in order, its SHA-256, the length of the Zstandard frame as 32 bits (little-endian), and the frame',
    ),
    failures: [400, 404, 409, 413],
  },
  signIn: {
    method: 'get',
    path: SIGN_IN_PATH,
    summary: 'How people sign in (RFC 9728), if the service has an identity provider',
    access: 'everybody',
    output: json('Where to get access tokens for this service', signInDescription),
    failures: [404],
  },
  metrics: {
    method: 'get',
    path: '/metrics',
    summary:
      "Metrics in Prometheus' text format; requires the service's token or, if it has none, a client on its machine",
    access: 'metrics',
    output: { type: 'text/plain', description: 'Metrics' },
    failures: [403],
  },
  health: {
    method: 'get',
    path: '/healthz',
    summary:
      'Whether the service accepts and keeps jobs, and the state of each of its parts; with a nonce, and for clients on its machine, HMAC-SHA256(key, nonce) as proof that it knows its generated key',
    access: 'everybody',
    parameters: {
      query: {
        nonce: z
          .string()
          .regex(/^[\w-]{16,128}$/)
          .optional(),
      },
    },
    output: json('It accepts jobs, unless an operator is draining it; when degraded, a part needs attention', health),
    unavailable: json('It accepts no jobs, or is stopping', health),
    failures: [400],
  },
  description: {
    method: 'get',
    path: '/openapi.json',
    summary: 'This description',
    access: 'everybody',
    output: { type: 'application/json', description: 'An OpenAPI document' },
  },
} as const satisfies Readonly<Record<string, ApiRoute>>;

type Handle = (context: AppContext) => object | Promise<object>;
type RouteName = keyof typeof ROUTES;
type Sent<Name extends RouteName> = (typeof ROUTES)[Name]['output'] extends {
  readonly schema: infer Schema extends z.ZodType;
}
  ? z.infer<Schema>
  : Response;

/** What handles each route. Its access was checked before, except where `accessToOwn` may be enough: that depends on the job. */
export type RouteHandlers = {
  readonly [Name in RouteName]: (context: AppContext) => Sent<Name> | Promise<Sent<Name>>;
};

/** Adds every route to the app, except the metrics if they are disabled. */
export function addRoutes(app: App, handlers: Omit<RouteHandlers, 'metrics'> & Partial<RouteHandlers>): void {
  const handlerOf: Readonly<Record<string, Handle | undefined>> = handlers;
  for (const [name, route] of Object.entries<ApiRoute>(ROUTES)) {
    const handle = handlerOf[name];
    if (handle !== undefined) addRoute(app, route, handle);
  }
}

function addRoute(app: App, route: ApiRoute, handle: Handle): void {
  const { method, access, accessToOwn, output } = route;
  const checks = isScope(access) && accessToOwn === undefined ? [requireScope(access)] : [];
  app.on(method.toUpperCase(), [patternOf(route)], ...checks, async (context) => {
    const result = await handle(context);
    return result instanceof Response ? result : context.json(result, output.status === 101 ? 200 : output.status);
  });
}

/** The pattern of the path for the router, by which the log and the metrics name the route. They call the ID of a job `:id`. */
export function patternOf({ path }: Pick<ApiRoute, 'path'>): string {
  return path.replaceAll(/\{(?:job_)?(\w+)\}/g, ':$1');
}

/** Whether keys need a scope for the route. */
export function isScope(access: ApiRoute['access']): access is KeyScope {
  return access !== 'everybody' && access !== 'metrics' && access !== 'account';
}
