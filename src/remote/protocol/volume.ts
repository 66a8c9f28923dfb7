import * as z from 'zod';

/** How many volumes one job can have. */
export const MAX_JOB_VOLUMES = 16;

/** The name of a volume. */
export const volumeName = z
  .string()
  .max(64, 'must have at most 64 characters')
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'must be letters, digits, ".", "_" and "-", and begin with a letter or digit');

/** A volume that the jobs of an account can have, in the response of `GET /v1/me`. */
export const listedVolume = z.object({ name: z.string(), writable: z.boolean() });

/** The variable of a job with the path of a volume. */
export function volumeVariable(name: string): string {
  return `FARWHARF_VOLUME_${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`;
}
