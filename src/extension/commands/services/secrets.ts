import { AppError } from '../../../core/errors.ts';
import { storesSecrets } from '../../../jobs/submit/secretFindings.ts';
import { secretName, secretValue } from '../../../remote/protocol/secret.ts';
import type { Services } from '../../services/services.ts';
import { label, withoutIcons } from '../../ui/labels.ts';
import { pickOne } from '../../ui/picks.ts';
import { askModal, askText, pickRow, showInformation } from '../../ui/show.ts';
import { hostLabel } from '../../ui/words.ts';
import type { Command } from '../command.ts';

/** Asks for a name and a value, and stores them on the selected host. */
export const setSecret: Command = async ({ services }) => {
  const host = await hostWithSecrets(services);
  const secrets = services.hosts.secrets(host);
  const stored = await secrets.listSecrets();
  const title = `Set a secret on ${hostLabel(host)}`;
  const items = stored.map(({ name }) => ({ label: withoutIcons(name), description: label`replace its value`, name }));
  const placeholder = 'Choose or type a name, such as HF_TOKEN';
  const typed = (name: string) => ({ label: label`$(key) ${name}`, description: label`a new secret`, name });
  const chosen = await pickOne({ title, placeholder, items, typed });
  if (chosen === undefined || chosen === 'back') return;
  const { name } = chosen;
  const problem = secretName.safeParse(name).error?.issues[0]?.message;
  if (problem !== undefined) throw new AppError('bad-input', `${name} cannot be a secret: the name ${problem}.`);
  const value = await askText({
    title: `${title}: ${name}`,
    prompt: `Jobs that you submit with this secret get it as the variable ${name}. Nobody can read the value back.`,
    password: true,
    ignoreFocusOut: true,
    validateInput: (text) => {
      const wrong = secretValue.safeParse(text).error?.issues[0]?.message;
      return wrong === undefined ? undefined : `The value ${wrong}.`;
    },
  });
  if (value === undefined) return;
  await secrets.setSecret(name, value);
  void showInformation(`The secret ${name} is set on ${hostLabel(host)}.`);
};

/** Asks for a secret, and removes it from the selected host. */
export const removeSecret: Command = async ({ services }) => {
  const host = await hostWithSecrets(services);
  const secrets = services.hosts.secrets(host);
  const stored = await secrets.listSecrets();
  if (stored.length === 0) {
    void showInformation(`You have no secrets on ${hostLabel(host)}.`);
    return;
  }
  const items = stored.map(({ name, changed_at: at }) => ({
    label: withoutIcons(name),
    description: label`set on ${at.slice(0, 10)}`,
    name,
  }));
  const chosen = await pickRow(items, { title: `Remove a secret from ${hostLabel(host)}` });
  if (chosen === undefined) return;
  const remove = 'Remove';
  const detail = 'Jobs that wait for it will fail. Running jobs keep its value.';
  if ((await askModal(`Remove the secret ${chosen.name}?`, { detail, isWarning: true }, remove)) !== remove) return;
  await secrets.removeSecret(chosen.name);
  void showInformation(`The secret ${chosen.name} was removed from ${hostLabel(host)}.`);
};

/** The selected host. @throws AppError `refused` if it does not store secrets. */
async function hostWithSecrets({ account, hosts }: Services): Promise<string> {
  const host = hosts.current();
  if (storesSecrets(await account.ask(host))) return host;
  throw new AppError(
    'refused',
    `The job service on ${hostLabel(host)} does not store secrets. Select another service, then run the command again.`,
  );
}
