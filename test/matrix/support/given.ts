import { join } from 'node:path';
import { Scratch } from '../../service/commandLine.ts';

/** The environment variable with what `npm run test:matrix` gives a test of the npm package, as JSON. */
export const GIVEN_VARIABLE = 'FARWHARF_MATRIX';

/** Where a test of the npm package finds what it needs. */
export interface Given {
  /** A folder in which a user ran `npm install` of the package. */
  readonly project: string;
  /** The single executable that is tested instead of the package. */
  readonly executable?: string;
  /** The folder of the examples. */
  readonly examples: string;
  /** Where scratch folders are made. */
  readonly scratch: string;
  /** Whether the user has an empty home folder instead of a FARWHARF_HOME. */
  readonly isNewUser: boolean;
  /** Whether only a job and a search are tested. */
  readonly isBrief: boolean;
}

/** @throws Error when the test was not started by `npm run test:matrix`. */
export function given(): Given {
  const text = process.env[GIVEN_VARIABLE];
  if (text === undefined) throw new Error('This test needs the packed package. Run it with: npm run test:matrix');
  return JSON.parse(text) as Given;
}

/** A place for one test, whose command is the installed one. */
export function installedScratch(): Promise<Scratch> {
  const { project, executable, scratch, isNewUser } = given();
  const command = executable ?? join(project, 'node_modules', '.bin', 'farwharf');
  return Scratch.create({ within: scratch, command, isNewUser });
}
