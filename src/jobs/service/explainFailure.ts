import { dirname } from 'node:path';
import * as l10n from '@vscode/l10n';
import * as z from 'zod';
import { type ErrorCode, isAbort, messageOf, systemCode } from '../../core/errors.ts';
import { UNFINISHED } from '../../core/files/atomicFile.ts';
import { brokenConnectionText, networkFailureText } from '../../core/network/failureText.ts';
import { withoutHost } from '../../core/network/namedHost.ts';
import { formatDuration } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import {
  classifyFailure,
  classifyStatus,
  httpStatus,
  type RequestFailure,
} from '../../core/network/classifyFailure.ts';
import { tryParseJson } from '../../core/jsonFields.ts';

/** Display names for the fields of a submission. */
const FIELDS: Readonly<Record<string, string>> = {
  max_runtime: 'time limit',
  machine_class: 'machine class',
  script: 'script',
  project: 'project',
  venv: 'Python environment',
  tarball: 'archive',
};

const STATUS = /^HTTP \d+: /;

// `meta.max_runtime: Too big`: the format of services that validate with zod.
const NAMED_FIELD = /^(?:body\.)?(?:meta\.)?([a-z_]+)((?:\.\w+)*): (.+)$/s;

// zod's messages for numbers.
const TOO_BIG = /^Too big: expected \w+ to be <=? ?(\d+)$/;
const TOO_SMALL = /^Too small: expected \w+ to be >=? ?(\d+)$/;

/** The error format of services that validate with pydantic. */
const problemList = z.array(z.looseObject({ loc: z.array(z.union([z.string(), z.number()])), msg: z.string() })).min(1);

/** What went wrong, whichever layer found it: the codes of `AppError`, and three more. */
export type FailureKind = ErrorCode | 'interrupted' | 'certificate' | 'unexpected';

export interface Explanation {
  readonly kind: FailureKind;
  /** For programs: our own code, the system's, or `http-<status>`. */
  readonly code: string;
  /** For people: problem, meaning, remedy, on one line without control characters. */
  readonly sentence: string;
}

/** What to do about a refused key or missing credits; the command line and the editor offer different ways. */
export interface Remedies {
  readonly key: string;
  readonly credits: string;
}

const KIND_OF: Readonly<Partial<Record<RequestFailure, FailureKind>>> = {
  // The client has already waited and retried: the account's other work uses up the limit.
  busy: 'conflict',
  conflict: 'conflict',
  failed: 'unreachable',
  forbidden: 'not-signed-in',
  invalid: 'bad-input',
  missing: 'missing',
  unauthorized: 'not-signed-in',
  unavailable: 'unreachable',
  unpaid: 'no-credits',
};

// V8's words for a recursion through a value without an end in sight.
const STACK_OVERFLOW = /^Maximum call stack size exceeded/;

/** System codes of a file or a disk that this user may not use like that. */
const PERMISSION_CODE = /^(EACCES|EPERM|EROFS)$/;
const REASON_OF_CODE: Readonly<Record<string, string>> = {
  ECONNREFUSED: l10n.t('nothing answers at that address'),
  ENOTFOUND: l10n.t('its name is unknown; are you online?'),
  EAI_AGAIN: l10n.t('its name could not be looked up; are you online?'),
  EHOSTUNREACH: l10n.t('there is no route to it'),
  ENETUNREACH: l10n.t('there is no route to it'),
  ETIMEDOUT: l10n.t('the connection timed out'),
};

/** Explains anything that was thrown: problem, meaning, remedy. `host` is the URL of the service that was called. */
export function explainFailure(
  error: unknown,
  { host, remedies }: { readonly host?: string | undefined; readonly remedies: Remedies },
): Explanation {
  const explanation = explain(error, serviceName(host), remedies);
  return { ...explanation, sentence: printableLine(explanation.sentence) };
}

// Classes are recognized by name: chunks that are loaded later contain their own copies.
function explain(error: unknown, service: string, remedies: Remedies): Explanation {
  const message = messageOf(error);
  if (isAbort(error)) return { kind: 'interrupted', code: 'interrupted', sentence: l10n.t('Stopped.') };
  if (isAppError(error)) return { kind: error.code, code: error.code, sentence: message };
  if (error instanceof RangeError && STACK_OVERFLOW.test(message)) {
    const sentence = l10n.t('The input is nested too deeply. Use a flatter one.');
    return { kind: 'bad-input', code: 'bad-input', sentence };
  }
  const status = httpStatus(error);
  if (status !== undefined) {
    const kind = KIND_OF[classifyStatus(status)] ?? 'refused';
    return { kind, code: `http-${status}`, sentence: describeResponse(error, kind, service, remedies) };
  }
  const code = systemCode(error);
  if (error instanceof Error && error.name === 'MachineUnreachable') {
    return { kind: 'unreachable', code: 'unreachable', sentence: message };
  }
  const networkText = networkFailureText(error, service);
  if (networkText !== undefined) {
    const isProxy = error instanceof Error && error.name === 'ProxyError';
    return { kind: isProxy ? 'unreachable' : 'certificate', code: code ?? 'unreachable', sentence: networkText };
  }
  const brokenText = brokenConnectionText(error, service);
  if (brokenText !== undefined) return { kind: 'unreachable', code: code ?? 'unreachable', sentence: brokenText };
  if (error instanceof Error && error.name === 'NetworkError') {
    const sentence = l10n.t('{0}. Check the network and try again.', withoutFullStop(message));
    return { kind: 'unreachable', code: 'unreachable', sentence };
  }
  if (code !== undefined && classifyFailure(error) === 'unreachable') {
    const sentence = l10n.t(
      'Could not reach {0}: {1}.',
      service,
      REASON_OF_CODE[code] ?? withoutHost(message, service),
    );
    return { kind: 'unreachable', code, sentence: sentence.replace(/\?\.$/, '?') };
  }
  const path = error instanceof Error && 'path' in error && typeof error.path === 'string' ? error.path : undefined;
  if (code !== undefined && path !== undefined && PERMISSION_CODE.test(code)) {
    // An atomic write uses a temporary name first.
    const place = path.endsWith(UNFINISHED) ? dirname(path) : path;
    const sentence = l10n.t('{0} may not be read or written ({1}). Check its permissions.', place, code);
    return { kind: 'permission', code, sentence };
  }
  return { kind: 'unexpected', code: code ?? 'failed', sentence: message };
}

function describeResponse(error: unknown, kind: FailureKind, service: string, remedies: Remedies): string {
  const causeText = withoutFullStop(messageOf(error));
  // Proxies, and web servers of another kind, respond with pages for browsers.
  const isPage = /^HTTP \d+: *</.test(causeText);
  const message = isPage ? causeText.slice(0, causeText.indexOf(':')) : causeText;
  if (kind === 'bad-input' && !isPage) return describeRefusal(error, service);
  // Signing in again or re-entering the key would change nothing: the service says what it does not permit.
  if (classifyFailure(error) === 'forbidden') return l10n.t('{0} refused the request ({1}).', service, message);
  if (kind === 'not-signed-in')
    return `${l10n.t('The API key or sign-in was not accepted ({0}).', message)} ${remedies.key}`;
  if (kind === 'no-credits') return `${l10n.t('The job was not accepted: {0}.', message)} ${remedies.credits}`;
  const problem = l10n.t('The request to {0} failed: {1}.', service, message);
  if (isPage)
    return `${problem} ${l10n.t('The response is a web page, so it comes from a proxy, or the service has a problem. Try again later.')}`;
  const seconds = error instanceof Error && 'retryAfter' in error ? error.retryAfter : undefined;
  // Farwharf's own service says it in words.
  if (typeof seconds !== 'number' || /\btry again in\b/i.test(message)) return problem;
  return `${problem} ${l10n.t('The service asks you to wait {0}.', formatDuration(seconds))}`;
}

function isAppError(error: unknown): error is Error & { readonly code: ErrorCode } {
  return error instanceof Error && error.name === 'AppError' && 'code' in error;
}

function withoutFullStop(text: string): string {
  return text.replace(/[.\s]+$/, '');
}

function serviceName(host: string | undefined): string {
  return (host === undefined ? undefined : URL.parse(host)?.host) ?? l10n.t('the service');
}

/**
 * Why a service refused the input of a request, in sentences: `gpu.example.org refused the time limit: must be at most 86400.`
 * A message in another format is kept unchanged.
 */
export function describeRefusal(error: unknown, service: string): string {
  const text = messageOf(error).replace(STATUS, '').trim();
  const problems = readProblems(text) ?? text.split('; ');
  const isNamed = problems.every((problem) => FIELDS[NAMED_FIELD.exec(problem)?.[1] ?? ''] !== undefined);
  if (!isNamed) return sentence(`${service} refused the request: ${(readProblems(text) ?? [text]).join('; ')}`);
  return problems.map((problem) => sentence(`${service} refused the ${inWords(problem)}`)).join(' ');
}

function readProblems(text: string): readonly string[] | undefined {
  if (!text.startsWith('[')) return undefined;
  const { data } = problemList.safeParse(tryParseJson(text)); // it may be truncated, or in another format
  return data?.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`);
}

function inWords(problem: string): string {
  const [, field = '', inside = '', what = ''] = NAMED_FIELD.exec(problem) ?? [];
  const part = inside === '' ? '' : ` (${inside.slice(1)})`;
  const limit = what
    .replace(TOO_BIG, 'must be at most $1')
    .replace(TOO_SMALL, 'must be at least $1')
    .replace(/^it must /, 'must ');
  return `${FIELDS[field]}${part}: ${limit}`;
}

function sentence(text: string): string {
  const first = text.replace(/^the /, 'The ');
  return /[.!?]$/.test(first) ? first : `${first}.`;
}
