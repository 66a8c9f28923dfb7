import type * as z from 'zod';
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
import { environmentList } from '../../remote/protocol/environment.ts';
import { secretBody, secretChange, secretList, secretName } from '../../remote/protocol/secret.ts';
import { SIGN_IN_PATH, signInDescription } from '../../remote/protocol/signIn.ts';
import { submission } from '../../remote/protocol/submission.ts';
import { failures, header, json, keyFailures, query, schemaOf } from './openapiParts.ts';

const JOB_ID_PARAMETER = { name: 'job_id', in: 'path', required: true, schema: { type: 'string' } };

const submissionForm = {
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
};

const event = (name: string, data: z.ZodType) => ({
  type: 'object',
  required: ['id', 'event', 'data'],
  properties: { id: { type: 'integer' }, event: { const: name }, data: schemaOf(data) },
});
const eventStream = {
  oneOf: [
    event('state', stateEventData),
    event('log', logEventData),
    event('flow', flowEventData),
    event('usage', usageEventData),
    event('artifact', artifactEventData),
    event('end', endEventData),
  ],
};

const names = 'SHA-256 hashes, 32 bytes each, up to 16,384';
const bits = 'A bit for each hash, the lowest of each byte first: 1 if it is lacking';
const binary = (description: string) => ({ description, content: { 'application/octet-stream': {} } });
const contentsRoute = (summary: string, body: string, answer: string, ...codes: number[]) => ({
  post: {
    summary,
    requestBody: { required: true, ...binary(body) },
    responses: { 200: binary(answer), ...keyFailures(403, ...codes) },
  },
});

/** The OpenAPI description of the service, derived from the declarations of the protocol. */
export function describeApi(version: string) {
  const ofJob = { parameters: [JOB_ID_PARAMETER] };
  return {
    openapi: '3.1.0',
    info: { title: 'Farwharf job service', version },
    security: [{ key: [] }],
    components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
    paths: {
      '/v1/me': {
        get: { summary: 'The account', responses: { 200: json('Credits and prices', account), ...keyFailures() } },
      },
      '/v1/jobs': {
        get: {
          summary: 'The newest jobs',
          parameters: [query('limit', { type: 'integer' }), query('before', { type: 'string' })],
          responses: { 200: json('Jobs, newest first', jobList), ...keyFailures(400, 404) },
        },
        post: {
          summary: 'Submit a workspace as a job',
          parameters: [
            header(
              'Idempotency-Key',
              { type: 'string' },
              'A new key for each submission, which then becomes one job however often it is sent',
            ),
            header(
              'Upload-Offset',
              { type: 'integer' },
              'Bytes of the archive that the service already has; the tarball has the rest',
            ),
          ],
          requestBody: { required: true, content: { 'multipart/form-data': { schema: submissionForm } } },
          responses: { 201: json('Accepted', jobCreated), ...keyFailures(400, 402, 409, 413, 415, 422, 424, 503, 507) },
        },
      },
      '/v1/submissions/{key}': {
        get: {
          summary: 'What became of the submission with this Idempotency-Key',
          parameters: [{ name: 'key', in: 'path', required: true, schema: { type: 'string' } }],
          responses: { 200: json('Its status', submissionStatus), ...keyFailures(400) },
        },
      },
      '/v1/contents/lacking': contentsRoute('Which pieces the account lacks', names, bits, 400, 413),
      '/v1/contents/lacking-lists': contentsRoute(
        'Which lists of pieces the account lacks, or a piece in them',
        names,
        bits,
        400,
        413,
      ),
      '/v1/contents/pieces': contentsRoute(
        'Send pieces',
        'For each piece its SHA-256, the length of the Zstandard frame as 32 bits (little-endian), and the frame; a piece has up to 256 KB, a body up to 16 MB and 4,096 pieces',
        'Nothing',
        400,
        413,
        507,
      ),
      '/v1/environments': {
        get: {
          summary: 'What jobs of the account built for later ones',
          responses: { 200: json('The complete environments', environmentList), ...keyFailures(403) },
        },
      },
      '/v1/secrets': {
        get: {
          summary: 'The secrets of the account, without their values',
          responses: { 200: json('Names, and when each was set', secretList), ...keyFailures(403) },
        },
      },
      '/v1/secrets/{name}': {
        parameters: [{ name: 'name', in: 'path', required: true, schema: schemaOf(secretName, 'input') }],
        put: {
          summary: 'Set a secret, which jobs with its name in meta.secrets get as a variable',
          requestBody: { required: true, ...json('The value', secretBody) },
          responses: { 200: json('It is set', secretChange), ...keyFailures(400, 403, 413) },
        },
        delete: {
          summary: 'Remove a secret',
          responses: { 200: json('It is removed', secretChange), ...keyFailures(400, 403, 404) },
        },
      },
      '/v1/jobs/{job_id}': {
        ...ofJob,
        get: { summary: 'One job', responses: { 200: json('The job', job), ...keyFailures(404) } },
        delete: { summary: 'Cancel a job', responses: { 200: json('Its state', cancellation), ...keyFailures(404) } },
      },
      '/v1/jobs/{job_id}/events': {
        ...ofJob,
        get: {
          summary: 'The events of a job, as they happen',
          parameters: [{ name: 'Last-Event-ID', in: 'header', schema: { type: 'integer' } }],
          responses: {
            200: { description: 'One event after another', content: { 'text/event-stream': { schema: eventStream } } },
            ...keyFailures(400, 404),
          },
        },
      },
      '/v1/jobs/{job_id}/artifacts': {
        ...ofJob,
        get: {
          summary: 'The results of a job',
          responses: {
            200: { description: 'A tar.gz archive', content: { 'application/gzip': {} } },
            ...keyFailures(404, 409),
          },
        },
      },
      '/v1/jobs/{job_id}/artifacts/contents': {
        ...ofJob,
        get: {
          summary: 'The pieces of the tar stream of the results',
          responses: {
            200: binary('For each piece, in order, its SHA-256 and its size as 32 bits (little-endian)'),
            ...keyFailures(404, 409),
          },
        },
        post: {
          summary: 'Some of these pieces',
          requestBody: {
            required: true,
            ...binary('A bit for each piece, the lowest of each byte first: 1 if it is wanted'),
          },
          responses: {
            200: binary(
              'For each wanted piece, in order, its SHA-256, the length of the Zstandard frame as 32 bits (little-endian), and the frame',
            ),
            ...keyFailures(400, 404, 409, 413),
          },
        },
      },
      [SIGN_IN_PATH]: {
        get: {
          summary: 'How people sign in (RFC 9728), if the service has an identity provider',
          security: [],
          responses: { 200: json('Where to get access tokens for this service', signInDescription), ...failures(404) },
        },
      },
      '/metrics': {
        get: {
          summary:
            "Metrics in Prometheus' text format; requires the service's token or, if it has none, a client on its machine",
          responses: { 200: { description: 'Metrics', content: { 'text/plain': {} } }, ...failures(403) },
        },
      },
      '/healthz': {
        get: {
          summary:
            'Whether the service accepts and keeps jobs, and the state of each of its parts; with a nonce, and for clients on its machine, HMAC-SHA256(key, nonce) as proof that it knows its generated key',
          security: [],
          parameters: [query('nonce', { type: 'string' })],
          responses: {
            200: json(
              'It accepts jobs, unless an operator is draining it; when degraded, a part needs attention',
              health,
            ),
            503: json('It accepts no jobs, or is stopping', health),
            ...failures(400),
          },
        },
      },
    },
  };
}
