import { submit } from '../../submit/submit.ts';
import { readSubmitArguments } from '../../submit/submitArguments.ts';
import { pickProfile } from '../../submit/submitProfile.ts';
import { chooseFolder, requireTrust } from '../../workspace/folders.ts';
import { withArgument } from '../command.ts';

/** Submits a job of a folder's `farwharf.json`, which the argument names or the user picks. */
export const submitProfile = withArgument(readSubmitArguments, async ({ services }, asked) => {
  requireTrust();
  const folder = await chooseFolder(asked);
  const profile = folder && (asked.profile ?? (await pickProfile(folder)));
  return profile === undefined ? undefined : submit(services, { ...asked, folder: folder?.uri.fsPath, profile });
});
