import { environmentKey, resolveKey } from '../../jobs/service/hostKey.ts';
import { SignInFile } from '../../jobs/signIn/signInFile.ts';
import type { KeySource } from '../../remote/http/bearer.ts';

/**
 * The credentials for a remote host: the key in the environment if it is for this host, else the access tokens of a sign-in to it, else the
 * key in its file.
 *
 * @throws AppError of `resolveKey`.
 */
export async function credentialsFor(
  host: string,
  { env, home }: { env: NodeJS.ProcessEnv; home: string },
): Promise<string | KeySource> {
  const key = environmentKey(host, env);
  if (key !== undefined) return key;
  const file = new SignInFile(host, home);
  if (file.readNow() === undefined) return resolveKey(host, { env, home });
  // Loaded only for people who have signed in, with its library.
  const { AccessTokens } = await import('../../jobs/signIn/accessTokens.ts');
  return new AccessTokens(host, file, `Sign in again:  farwharf login --remote ${host}`);
}
