import * as z from 'zod';
import { artifactEventData, endEventData, flowEventData, logEventData, stateEventData } from '../../remote/schemas.ts';
import { acceptedJob, accountView, cancellation, failure, jobList, jobView } from './jobViews.ts';
import { submission } from './submission.ts';

const JOB_ID_PARAMETER = { name: 'job_id', in: 'path', required: true, schema: { type: 'string' } };

const schemaOf = (schema: z.ZodType, io: 'input' | 'output' = 'output') => {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io });
  return rest;
};
const json = (description: string, schema: z.ZodType) => ({
  description,
  content: { 'application/json': { schema: schemaOf(schema) } },
});
const query = (name: string, schema: object) => ({ name, in: 'query', schema });
const failures = (...codes: number[]) => Object.fromEntries(codes.map((code) => [code, json('Refused', failure)]));

const submissionForm = {
  type: 'object',
  required: ['tarball', 'meta'],
  properties: {
    tarball: { type: 'string', contentMediaType: 'application/gzip' },
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
    event('artifact', artifactEventData),
    event('end', endEventData),
  ],
};

/** The OpenAPI description of the service, made from the schemas that it checks with. */
export function describeApi(version: string) {
  const job = { parameters: [JOB_ID_PARAMETER] };
  return {
    openapi: '3.1.0',
    info: { title: 'Farwharf job service', version },
    security: [{ key: [] }],
    components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
    paths: {
      '/v1/me': {
        get: { summary: 'The account', responses: { 200: json('Credits and prices', accountView), ...failures(401) } },
      },
      '/v1/jobs': {
        get: {
          summary: 'The newest jobs',
          parameters: [query('limit', { type: 'integer' }), query('before', { type: 'string' })],
          responses: { 200: json('Jobs, newest first', jobList), ...failures(400, 401, 404) },
        },
        post: {
          summary: 'Submit a workspace as a job',
          requestBody: { required: true, content: { 'multipart/form-data': { schema: submissionForm } } },
          responses: { 201: json('Accepted', acceptedJob), ...failures(400, 401, 402, 413, 415, 429) },
        },
      },
      '/v1/jobs/{job_id}': {
        ...job,
        get: { summary: 'One job', responses: { 200: json('The job', jobView), ...failures(401, 404) } },
        delete: { summary: 'Cancel a job', responses: { 200: json('Its state', cancellation), ...failures(401, 404) } },
      },
      '/v1/jobs/{job_id}/events': {
        ...job,
        get: {
          summary: 'What happens to a job, as it happens',
          parameters: [{ name: 'Last-Event-ID', in: 'header', schema: { type: 'integer' } }],
          responses: {
            200: { description: 'One event after another', content: { 'text/event-stream': { schema: eventStream } } },
            ...failures(400, 401, 404),
          },
        },
      },
      '/v1/jobs/{job_id}/artifacts': {
        ...job,
        get: {
          summary: 'The results of a job',
          responses: {
            200: { description: 'A tar.gz archive', content: { 'application/gzip': {} } },
            ...failures(401, 404, 409),
          },
        },
      },
      '/healthz': {
        get: {
          summary: 'Whether the service runs; with a nonce, HMAC-SHA256(key, nonce) as proof that it knows the key',
          security: [],
          parameters: [query('nonce', { type: 'string' })],
          responses: { 200: { description: 'It runs' }, ...failures(400) },
        },
      },
    },
  };
}
