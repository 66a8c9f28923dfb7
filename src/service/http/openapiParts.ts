// The parts that the descriptions of several routes have in common.
import * as z from 'zod';
import { failure } from '../../remote/protocol/schemas.ts';

export const schemaOf = (schema: z.ZodType, io: 'input' | 'output' = 'output') => {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io });
  return rest;
};
export const json = (description: string, schema: z.ZodType) => ({
  description,
  content: { 'application/json': { schema: schemaOf(schema) } },
});
export const query = (name: string, schema: object) => ({ name, in: 'query', schema });
export const header = (name: string, schema: object, description: string) => ({
  name,
  in: 'header',
  description,
  schema,
});
export const failures = (...codes: number[]) =>
  Object.fromEntries(codes.map((code) => [code, json('Refused', failure)]));
const later = (why: string) => ({
  ...json(why, failure),
  headers: { 'Retry-After': { description: 'Whole seconds', schema: { type: 'integer' } } },
});
/** The refusals of every request with a key or an access token: a wrong one, a disabled account or a missing scope, too many requests of its account, a service that is stopping. */
export const keyFailures = (...codes: number[]) => ({
  ...failures(401, 403, ...codes),
  429: later('Too many for this account; try again later'),
  503: later('The service is being restarted, try again in a moment; or no job can be started, as the detail says'),
});
