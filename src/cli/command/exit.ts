import { explainFailure, type FailureKind, type Remedies } from '../../jobs/service/explainFailure.ts';

/** The exit status of the command, for scripts. */
export const EXIT = {
  done: 0,
  failed: 1,
  badUse: 2,
  notAuthorized: 3,
  noCredits: 4,
  network: 5,
  /** After Ctrl+C: 128 + SIGINT. After another signal, `runProgram` uses that signal's number. */
  interrupted: 130,
} as const;

const EXIT_OF_KIND: Partial<Record<FailureKind, number>> = {
  'bad-input': EXIT.badUse,
  certificate: EXIT.network,
  interrupted: EXIT.interrupted,
  missing: EXIT.badUse,
  'no-credits': EXIT.noCredits,
  'not-signed-in': EXIT.notAuthorized,
  'outcome-unknown': EXIT.network,
  unreachable: EXIT.network,
};

const REMEDIES: Remedies = {
  key: 'Set FARWHARF_API_KEY to a valid key for this service, or sign in again:  farwharf login',
  credits: 'A shorter --max-runtime or a cheaper --machine-class reserves fewer credits.',
};

export interface Failure {
  readonly exit: number;
  /** For programs: our own code, the system's, or `http-<status>`. */
  readonly code: string;
  /** For people: one sentence, free of control characters. */
  readonly message: string;
}

/** Describes an error for people and for scripts. `host` is the URL of the service that was called. */
export function describeFailure(error: unknown, host?: string): Failure {
  const { kind, code, sentence } = explainFailure(error, { host, remedies: REMEDIES });
  return { exit: EXIT_OF_KIND[kind] ?? EXIT.failed, code, message: sentence };
}
