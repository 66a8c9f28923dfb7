import * as l10n from '@vscode/l10n';
import { explainFailure, type FailureKind, type Remedies } from '../../jobs/service/explainFailure.ts';

export type ErrorAction = 'retry' | 'submitAgain' | 'signIn' | 'trust' | 'openFolder' | 'checkJobs' | 'openLog';

const REMEDIES: Remedies = {
  key: l10n.t('Sign in again.'),
  credits: l10n.t('A shorter time limit or a cheaper machine class reserves fewer credits.'),
};

/** The buttons below an error message, the most useful one first. */
const ACTIONS: Readonly<Record<FailureKind, readonly ErrorAction[]>> = {
  'bad-input': [],
  certificate: ['openLog'],
  conflict: ['retry', 'openLog'],
  corrupt: ['openLog'],
  interrupted: [],
  limit: ['openLog'],
  missing: [],
  'no-credits': ['retry', 'openLog'],
  'no-folder': ['openFolder'],
  'no-space': ['retry', 'openLog'],
  'not-signed-in': ['signIn', 'openLog'],
  'outcome-unknown': ['checkJobs', 'submitAgain'],
  permission: ['openLog'],
  refused: ['openLog'],
  unexpected: ['openLog'],
  unreachable: ['retry', 'openLog'],
  untrusted: ['trust'],
};

export interface ExplainedError {
  readonly kind: FailureKind;
  readonly sentence: string;
  readonly actions: readonly ErrorAction[];
}

/** The sentence and the buttons for anything that was thrown. Text from outside is made safe to show. @param host that was called. */
export function explain(error: unknown, host?: string): ExplainedError {
  const { kind, code, sentence } = explainFailure(error, { host, remedies: REMEDIES });
  const text = kind === 'unexpected' ? l10n.t('Unexpected error: {0}', sentence) : sentence;
  // A service that knows the account and refuses it, as a disabled one, is not satisfied by another sign-in.
  return { kind, sentence: text, actions: ACTIONS[code === 'http-403' ? 'refused' : kind] };
}
