// Writes media/farwharfSchema.json, with which editors check and complete farwharf.json. Run it after a change of the profile's fields.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { profileFile } from '../src/jobs/profiles/profileSchema.ts';

export const SCHEMA_PATH = join(import.meta.dirname, '../media/farwharfSchema.json');

/** The JSON schema of `farwharf.json`, in the dialect that editors know best. */
export function profileJsonSchema(): object {
  return { title: 'Farwharf profiles', ...z.toJSONSchema(profileFile, { io: 'input', target: 'draft-7' }) };
}

if (import.meta.main) writeFileSync(SCHEMA_PATH, `${JSON.stringify(profileJsonSchema(), null, 2)}\n`);
