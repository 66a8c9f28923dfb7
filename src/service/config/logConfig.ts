import { isAbsolute } from 'node:path';
import * as z from 'zod';
import { LOG_LEVELS } from '../../core/log.ts';

/** The section `[log]` of the configuration. */
export const logSettings = z.strictObject({
  format: z.enum(['text', 'json']).default('text'),
  level: z.enum(LOG_LEVELS).default('info'),
  /** Where lines go; unless given, to standard error, which systemd keeps in its journal. */
  file: z.string().refine(isAbsolute, 'must be an absolute path').optional(),
  /** A file that has grown to this becomes `<file>.1`, … */
  max_mb: z.number().positive().default(50),
  /** … and this many of those are kept. */
  keep: z.int().min(0).default(5),
  /** Whether each request gets a line. */
  requests: z.boolean().default(true),
});
export type LogSettings = z.infer<typeof logSettings>;
