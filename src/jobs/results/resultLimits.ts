import { type ArchiveLimits, DEFAULT_LIMITS } from '../../workspace/extract/extract.ts';

/** How much the results of a job may be, in GB of 2^30 bytes, unless the user raises it. */
export const DEFAULT_RESULT_GB = 20;

/**
 * The limits for results that unpack to at most so many GB of 2^30 bytes. Above the default, more entries and time are allowed in proportion.
 *
 * @param raise a sentence that says how the user can raise the limit.
 */
export function resultLimits(gigabytes: number, raise: string): ArchiveLimits {
  const scale = Math.max(1, gigabytes / DEFAULT_RESULT_GB);
  const { depth, entries, folders, components, nameBytes, seconds } = DEFAULT_LIMITS;
  return {
    totalBytes: gigabytes * 2 ** 30,
    entries: entries * scale,
    folders: folders * scale,
    depth,
    components: components * scale,
    nameBytes: nameBytes * scale,
    seconds: seconds * scale,
    raise,
  };
}
