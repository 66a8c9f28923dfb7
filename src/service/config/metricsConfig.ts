import * as z from 'zod';

/** The section `[metrics]` of the configuration. */
export const metricsSettings = z.strictObject({
  enabled: z.boolean().default(true),
  /** Who sends it may read them, as `Authorization: Bearer <token>`; programs of this machine alone may where there is none. */
  token: z.string().min(16).optional(),
});
