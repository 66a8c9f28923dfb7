import type { Scratch } from '../../test/service/commandLine.ts';

/** A service with one account, to which its key signs in. It ends with the scratch. */
export async function startAccountService(scratch: Scratch): Promise<{ readonly url: string; readonly key: string }> {
  const { url, data } = await scratch.serve([]);
  const admin = async (...args: string[]): Promise<string> =>
    (await scratch.run(['admin', ...args, '--data', data])).stdout.trim();
  await admin('account', 'add', 'ada', '--credits', '312');
  return { url, key: await admin('key', 'add', 'ada') };
}
