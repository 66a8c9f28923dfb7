import { AppError } from '../core/errors.ts';

const MIN_LENGTH = 24;
const MIN_DIFFERENT = 8;

/**
 * A key that a person chose for the account `local`. Everybody who reaches the service may try keys, other users of this machine
 * too, so a word or a row of the same characters is none; 96 random bits in hexadecimal have 24 characters.
 *
 * @throws AppError `bad-input` with the command that makes a good one. The key is not repeated.
 */
export function checkedApiKey(key: string): string {
  if (key.length >= MIN_LENGTH && new Set(key).size >= MIN_DIFFERENT) return key;
  throw new AppError(
    'bad-input',
    `The key in FARWHARF_API_KEY is too easy to guess: it needs at least ${MIN_LENGTH} characters, ${MIN_DIFFERENT} of them different. Make one with  openssl rand -base64 32  or leave the variable unset: the service then makes one.`,
  );
}
