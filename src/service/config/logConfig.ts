import { isAbsolute } from 'node:path';
import * as z from 'zod';
import { LOG_LEVELS } from '../../core/log.ts';

const REMOVED = ['max_mb', 'keep'];
const HOW_TO_ROTATE =
  'max_mb and keep are no longer settings, because the service does not rotate its log. Remove them and let logrotate do it: docs/service.md has an example under "Log"';

/** The section `[log]` of the configuration. */
export const logSettings = z.strictObject(
  {
    format: z.enum(['text', 'json']).default('text'),
    level: z.enum(LOG_LEVELS).default('info'),
    /** Default: standard error, which systemd stores in its journal. */
    file: z.string().refine(isAbsolute, 'must be an absolute path').optional(),
    /** Whether each request gets a line. */
    requests: z.boolean().default(true),
  },
  {
    error: (issue) =>
      issue.code === 'unrecognized_keys' && REMOVED.some((name) => issue.keys.includes(name))
        ? HOW_TO_ROTATE
        : undefined,
  },
);
export type LogSettings = z.infer<typeof logSettings>;
