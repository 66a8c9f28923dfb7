import * as z from 'zod';

// Bounds for what a hostile machine could show.
const MAX_TEXT = 300;
const MAX_CLASSES = 100;

/** What a machine's service sends when an SSH session attaches to it: how to reach it, or why that is not possible. */
export const greeting = z.union([
  z.object({ key: z.string().min(1), version: z.string().max(MAX_TEXT), executor: z.string().max(MAX_TEXT) }),
  z.object({ error: z.string() }),
]);
export type Greeting = z.infer<typeof greeting>;

/** Whether a version is newer than another one, by its numbers (Semantic Versioning 2.0.0, section 11). */
export function isNewerVersion(version: string, than: string): boolean {
  const numbers = (text: string): readonly number[] => text.split(/[.+-]/).slice(0, 3).map(Number);
  const [left, right] = [numbers(version), numbers(than)];
  const index = left.findIndex((number, at) => number !== right[at]);
  return (left[index] ?? 0) > (right[index] ?? 0); // both 0 if none differs
}

/** The response of a machine that is to be disconnected: how many jobs have not ended, 0 once its service has stopped. */
export const dismantled = z.union([z.object({ unfinished: z.int() }), z.object({ error: z.string() })]);
export type Dismantled = z.infer<typeof dismantled>;

/** A machine class that the service of a login node would have. */
const offeredClass = z.object({
  name: z.string().max(MAX_TEXT),
  description: z.string().max(MAX_TEXT),
  cpus: z.number(),
  memory_gb: z.number(),
  gpus: z.number(),
});
export type OfferedClass = z.infer<typeof offeredClass>;

/** What jobs could use of the cluster of a login node, or why that is not known. */
export const clusterOffer = z.union([
  z.object({ classes: z.array(offeredClass).max(MAX_CLASSES).readonly() }),
  z.object({ error: z.string() }),
]);
export type ClusterOffer = z.infer<typeof clusterOffer>;
