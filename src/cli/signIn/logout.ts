import { messageOf } from '../../core/errors.ts';
import { farwharfHome } from '../../core/files/home.ts';
import { requireOwnHome } from '../../core/files/ownFiles.ts';
import { endSignIn } from '../../jobs/signIn/endSignIn.ts';
import { SignInFile } from '../../jobs/signIn/signInFile.ts';
import type { Context } from '../command/context.ts';
import { serviceHost } from './serviceHost.ts';

/** `farwharf logout`: forgets the sign-in to a service, and ends it at the provider. JSON: `{ host, was_signed_in, ended_at_provider }`. */
export async function logout(context: Context): Promise<void> {
  const { terminal, signal, env } = context;
  const host = serviceHost(context, 'logout');
  const home = farwharfHome(env);
  requireOwnHome(home);
  const file = new SignInFile(host, home);
  const record = file.readNow();
  // First, so that it is removed whatever the provider responds.
  file.remove();
  let problem: string | undefined;
  try {
    if (record !== undefined) await endSignIn(record, signal);
  } catch (error) {
    problem = messageOf(error);
  }
  const wasSignedIn = record !== undefined;
  if (terminal.json({ host, was_signed_in: wasSignedIn, ended_at_provider: wasSignedIn && problem === undefined }))
    return;
  const { host: name } = new URL(host);
  terminal.answer(wasSignedIn ? `Signed out of ${name}.` : `You were not signed in to ${name}.`);
  if (problem !== undefined) {
    terminal.note(`The sign-in was removed here, but may still be valid at the provider: ${problem}`);
  }
}
