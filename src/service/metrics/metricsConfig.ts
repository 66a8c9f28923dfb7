import * as z from 'zod';

/** The section `[metrics]` of the configuration. */
export const metricsSettings = z.strictObject({
  enabled: z.boolean().default(true),
  /** Lets other machines read them, as `Authorization: Bearer <token>`; this machine may without. */
  token: z.string().min(16).optional(),
});
