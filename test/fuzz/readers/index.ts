import type { FuzzedReader } from '../reader.ts';
import { archives, packedArchives } from './archives.ts';
import { configurations } from './configurations.ts';
import { eventStreams } from './eventStreams.ts';
import { flowFiles } from './flowFiles.ts';
import { ignoreRules } from './ignoreRules.ts';
import { indexFiles } from './indexFiles.ts';
import { jobPages } from './jobPages.ts';
import { markedOutput } from './markedOutput.ts';
import { profiles } from './profiles.ts';
import { serviceAnswers } from './serviceAnswers.ts';
import { spools } from './spools.ts';
import { traces } from './traces.ts';
import { uploads } from './uploads.ts';

/** Every reader of what others wrote. */
export const READERS: readonly FuzzedReader[] = [
  archives,
  packedArchives,
  eventStreams,
  ignoreRules,
  flowFiles,
  markedOutput,
  jobPages,
  indexFiles,
  spools,
  configurations,
  profiles,
  serviceAnswers,
  uploads,
  traces,
];
