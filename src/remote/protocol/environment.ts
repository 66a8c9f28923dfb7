import * as z from 'zod';

/** The feature of a service that keeps environments for later jobs, in `features` of `GET /v1/me`. */
export const ENVIRONMENTS_FEATURE = 'environments';

const keptEnvironment = z.object({
  name: z.string().describe('what the packages are listed in, such as requirements.txt'),
  contents: z.string().describe('SHA-256, in hexadecimal, of what decides which packages are installed'),
  built_at: z.iso.datetime(),
  last_used_at: z.iso.datetime(),
  build_seconds: z.number(),
  bytes: z.int(),
});
export type KeptEnvironment = z.infer<typeof keptEnvironment>;

/** The response of `GET /v1/environments`. */
export const environmentList = z.object({
  environments: z.array(keptEnvironment).describe('what jobs of the account built for later ones, the newest first'),
});
