import * as z from 'zod';

/** Names of what lies in a backup; the results of a job are under the path that they have in the data folder. */
export const MANIFEST = 'manifest.json';
export const STORE = 'service.db';

/** What a backup says of itself. */
export const backupManifest = z.object({
  format: z.literal(1),
  created_at: z.iso.datetime(),
  jobs: z.int(),
  /** Jobs that had not ended: their rows are there, their files are not. */
  unfinished_jobs: z.int(),
  /** Jobs whose results are there. */
  results: z.int(),
  /** Of the store in it, lower-case hexadecimal. */
  store_sha256: z.string(),
});
export type BackupManifest = z.infer<typeof backupManifest>;
