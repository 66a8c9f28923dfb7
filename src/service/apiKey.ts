import { AppError } from '../core/errors.ts';

const MIN_LENGTH = 24;
const MIN_DIFFERENT = 8;

/**
 * Checks a key that a person chose for the account `local`. Everyone who reaches the service can try keys, including other users of
 * this machine, so words and repeated characters are refused. 24 hexadecimal characters have 96 random bits.
 *
 * @throws AppError `bad-input` with a command that generates a good one. The message does not contain the key.
 */
export function checkedApiKey(key: string): string {
  if (key.length >= MIN_LENGTH && new Set(key).size >= MIN_DIFFERENT) return key;
  throw new AppError(
    'bad-input',
    `The key in FARWHARF_API_KEY is too easy to guess: it needs at least ${MIN_LENGTH} characters, ${MIN_DIFFERENT} of them different. Generate one with  openssl rand -base64 32  or leave the variable unset: the service then generates one.`,
  );
}
