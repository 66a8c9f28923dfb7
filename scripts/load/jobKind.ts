import { pick, type Random } from '../../test/random.ts';
import type { Witness } from './witness.ts';

const LINES = 200;
const CHATTER = Array.from({ length: 2 * LINES }, (_, line) => `line ${line}\n`).join('');
const ARTIFACT_BYTES = 200_000;

/** A job as the load sends it, and what it must come to however often everything around it dies. */
export interface JobKind {
  readonly name: string;
  /** Seconds. */
  readonly maxRuntime: number;
  readonly state: string;
  readonly exitCode: number | null;
  readonly output: string;
  /** Bytes of the file `made.txt` that it brings home. */
  readonly artifactBytes: number;
  /** Whether the script itself comes to its end. */
  readonly isEnding: boolean;
  /** Whether the client cancels it. */
  readonly isCancelled: boolean;
  /** The work of the script, as lines of bash. */
  readonly work: readonly string[];
}

const ENDS = { maxRuntime: 60, artifactBytes: 0, isEnding: true, isCancelled: false };
const STAYS = {
  ...ENDS,
  isEnding: false,
  exitCode: null,
  work: ['echo started', 'exec sleep 900'],
  output: 'started\n',
};

const JOB_KINDS: readonly JobKind[] = [
  {
    ...ENDS,
    name: 'plain',
    work: ['echo one', 'sleep 0.3', 'echo two'],
    output: 'one\ntwo\n',
    state: 'succeeded',
    exitCode: 0,
  },
  { ...ENDS, name: 'failing', work: ['echo fails'], output: 'fails\n', state: 'failed', exitCode: 7 },
  {
    ...ENDS,
    name: 'talking',
    work: [0, LINES].flatMap((from) => [
      `for ((i = ${from}; i < ${from + LINES}; i++)); do echo "line $i"; done`,
      'sleep 0.5',
    ]),
    output: CHATTER,
    state: 'succeeded',
    exitCode: 0,
  },
  {
    ...ENDS,
    name: 'making',
    work: [`head -c ${ARTIFACT_BYTES} /dev/zero > made.txt`, 'echo made'],
    output: 'made\n',
    artifactBytes: ARTIFACT_BYTES,
    state: 'succeeded',
    exitCode: 0,
  },
  { ...STAYS, name: 'too long', maxRuntime: 1, state: 'timed_out' },
  { ...STAYS, name: 'cancelled', maxRuntime: 600, isCancelled: true, state: 'cancelled' },
];

/** A random kind: every second job is one that just runs. */
export function randomKind(random: Random): JobKind {
  const kind = random() < 0.4 ? JOB_KINDS[0] : pick(JOB_KINDS, random);
  if (kind === undefined) throw new Error('There are no kinds of jobs.');
  return kind;
}

/** The script of the job `name`, which reports to the witness when it begins and ends. */
export function scriptOf({ work, exitCode }: JobKind, name: string, witness: Witness): string {
  const lines = [witness.report(name, 'begin'), ...work, witness.report(name, 'end'), `exit ${exitCode ?? 0}`];
  return `${lines.join('\n')}\n`;
}
