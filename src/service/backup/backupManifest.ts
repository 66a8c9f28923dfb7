import * as z from 'zod';

/** Names of files in a backup. The results of jobs have the same paths as in the data folder. */
export const MANIFEST = 'manifest.json';
export const STORE = 'service.db';

/** The description that a backup contains. */
export const backupManifest = z.object({
  format: z.literal(1),
  created_at: z.iso.datetime(),
  jobs: z.int(),
  /** Jobs that had not ended; the backup has their rows, but not their files. */
  unfinished_jobs: z.int(),
  /** Jobs whose results are in the backup. */
  results: z.int(),
  /** Lowercase hexadecimal. */
  store_sha256: z.string(),
});
export type BackupManifest = z.infer<typeof backupManifest>;
