import { AppError, messageOf } from '../../core/errors.ts';
import { farwharfHome } from '../../core/files/home.ts';
import { requireOwnHome } from '../../core/files/ownFiles.ts';
import { createBoundedFetch } from '../../core/network/boundedFetch.ts';
import { printableLine } from '../../core/text/printable.ts';
import { keyInEnvironment } from '../../jobs/service/hostKey.ts';
import { type DevicePrompt, signInByDevice } from '../../jobs/signIn/deviceFlow.ts';
import { SignInFile } from '../../jobs/signIn/signInFile.ts';
import { readSignInOffer } from '../../jobs/signIn/signInOffer.ts';
import { RemoteClient } from '../../remote/client.ts';
import type { Context } from '../command/commandContext.ts';
import { LOCAL_HOST, machineOfHost, resolveHost } from '../../jobs/service/host.ts';
import { endSignIn } from '../../jobs/signIn/endSignIn.ts';

/**
 * `farwharf login`: signs in to a service. JSON: `{ host, issuer, url, complete_url?, code }`, then `{ host, account_id }`.
 *
 * @throws AppError `bad-input` for this machine and for a service that offers no sign-in, or what the provider refused.
 */
export async function login(context: Context): Promise<void> {
  const { terminal, signal, env, program } = context;
  const host = serviceHost(context, 'login');
  const { host: name } = new URL(host);
  const home = farwharfHome(env);
  requireOwnHome(home);
  const offer = await readSignInOffer(host, { fetch: createBoundedFetch(), signal });
  if (offer === undefined) {
    const message = `${name} offers no sign-in. Ask its operator for an API key, and set FARWHARF_API_KEY to it.`;
    throw new AppError('bad-input', message);
  }
  const show = ({ url, code, completeUrl }: DevicePrompt): void => {
    const json = {
      host,
      issuer: offer.issuer,
      url,
      ...(completeUrl !== undefined && { complete_url: completeUrl }),
      code,
    };
    if (terminal.json(json)) return;
    terminal.note(`To sign in to ${name} with ${new URL(offer.issuer).host}, open`);
    terminal.note(`  ${printableLine(url)}`);
    terminal.note(`and enter the code  ${printableLine(code)}`);
    if (completeUrl !== undefined)
      terminal.note(`Or open this page, and compare the code:  ${printableLine(completeUrl)}`);
    terminal.phase('waiting until you have signed in …');
  };
  const record = await signInByDevice(offer, { show, signal });
  terminal.clearStatus();
  await using client = new RemoteClient(host, record.access_token, {
    headers: { 'User-Agent': `farwharf/${program.version}` },
  });
  const account = await client.me({ signal });
  await new SignInFile(host, home).write(record);
  const id = typeof account.account_id === 'string' ? account.account_id : null;
  if (!terminal.json({ host, account_id: id })) {
    terminal.answer(`Signed in to ${name}${id === null ? '' : ` as ${printableLine(id)}`}.`);
    if (env['FARWHARF_REMOTE_HOST'] === undefined) terminal.note(`Use it:  farwharf jobs --remote ${host}`);
  }
  if (keyInEnvironment(host, env) !== undefined) {
    terminal.note('FARWHARF_API_KEY is set and takes precedence. Unset it to use this sign-in.');
  }
}

/** The service that a verb about sign-ins is for. @throws AppError `bad-input` for this machine and one that ssh reaches. */
export function serviceHost({ remote, env }: Pick<Context, 'remote' | 'env'>, verb: 'login' | 'logout'): string {
  const host = resolveHost({ remote, env });
  if (host !== LOCAL_HOST && machineOfHost(host) === undefined) return host;
  const message = `Jobs on this machine, or one that ssh reaches, need no sign-in. Name a service:  farwharf ${verb} --remote https://gpu.example.org`;
  throw new AppError('bad-input', message);
}

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
