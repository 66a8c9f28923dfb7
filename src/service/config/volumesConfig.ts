import { isAbsolute } from 'node:path';
import * as z from 'zod';
import { volumeName, volumeVariable } from '../../remote/protocol/volume.ts';

const MAX_VOLUMES = 1_000;

const volume = z.strictObject({
  name: volumeName,
  /** With the same path on all machines that run jobs. */
  folder: z.string().refine(isAbsolute, 'must be an absolute path'),
  writable: z.boolean().default(false),
  /** Whose jobs can have it; default: those of all accounts. */
  accounts: z.array(z.string().min(1)).min(1).optional(),
});
export type VolumeSettings = Readonly<z.infer<typeof volume>>;

/** The sections `[[volumes]]`. */
export const volumesSettings = z
  .array(volume)
  .max(MAX_VOLUMES)
  .superRefine((volumes, context) => {
    const names = new Map<string, string>();
    for (const [index, { name }] of volumes.entries()) {
      const variable = volumeVariable(name);
      const other = names.get(variable);
      names.set(variable, name);
      if (other === undefined) continue;
      const message = `must not have the variable ${variable} of the volume ${other}. Choose another name`;
      context.addIssue({ code: 'custom', path: [index, 'name'], message });
    }
  })
  .default([]);
