import * as l10n from '@vscode/l10n';
import { AppError } from '../../core/errors.ts';
import { storesSecrets } from '../../jobs/plan/secretFindings.ts';
import { valueRefusal } from '../../jobs/selection/refusals.ts';
import { secretName, secretValue } from '../../remote/protocol/secret.ts';
import type { AccountMonitor } from './account.ts';
import type { Hosts } from './hosts.ts';
import { label, withoutIcons } from '../ui/labels.ts';
import { pickOne } from '../ui/picks.ts';
import { askModal, askText, pickRow, showInformation } from '../ui/show.ts';
import { hostLabel } from '../ui/words.ts';

export interface SecretDeps {
  readonly account: Pick<AccountMonitor, 'ask'>;
  readonly hosts: Pick<Hosts, 'current' | 'secrets'>;
}

/** Asks for a name and a value, and stores them on the selected host. */
export async function setSecret(deps: SecretDeps): Promise<void> {
  const host = await hostWithSecrets(deps);
  const secrets = deps.hosts.secrets(host);
  const secretNames = await secrets.listSecrets();
  const title = l10n.t('Set a secret on {0}', hostLabel(host));
  const items = secretNames.map(({ name }) => ({
    label: withoutIcons(name),
    description: label`${l10n.t('replace its value')}`,
    name,
  }));
  const placeholder = l10n.t('Choose or type a name, such as HF_TOKEN');
  const typed = (name: string) => ({
    label: label`$(key) ${name}`,
    description: label`${l10n.t('a new secret')}`,
    name,
  });
  const row = await pickOne({ title, placeholder, items, typed });
  if (row === undefined || row === 'back') return;
  const { name } = row;
  const problem = valueRefusal(secretName, name);
  if (problem !== undefined)
    throw new AppError('bad-input', l10n.t('{0} cannot be a secret: the name {1}.', name, problem));
  const value = await askText({
    title: `${title}: ${name}`,
    prompt: l10n.t(
      'Jobs that you submit with this secret get it as the variable {0}. Nobody can read the value back.',
      name,
    ),
    password: true,
    ignoreFocusOut: true,
    validateInput: (text) => {
      const wrong = valueRefusal(secretValue, text);
      return wrong === undefined ? undefined : l10n.t('The value {0}.', wrong);
    },
  });
  if (value === undefined) return;
  await secrets.setSecret(name, value);
  void showInformation(l10n.t('The secret {0} is set on {1}.', name, hostLabel(host)));
}

/** Asks for a secret, and removes it from the selected host. */
export async function removeSecret(deps: SecretDeps): Promise<void> {
  const host = await hostWithSecrets(deps);
  const secrets = deps.hosts.secrets(host);
  const secretNames = await secrets.listSecrets();
  if (secretNames.length === 0) {
    void showInformation(l10n.t('You have no secrets on {0}.', hostLabel(host)));
    return;
  }
  const items = secretNames.map(({ name, changed_at: at }) => ({
    label: withoutIcons(name),
    description: label`${l10n.t('set on {0}', at.slice(0, 10))}`,
    name,
  }));
  const row = await pickRow(items, { title: l10n.t('Remove a secret from {0}', hostLabel(host)) });
  if (row === undefined) return;
  const remove = l10n.t('Remove');
  const detail = l10n.t('Jobs that wait for it will fail. Running jobs keep its value.');
  if ((await askModal(l10n.t('Remove the secret {0}?', row.name), { detail, isWarning: true }, remove)) !== remove)
    return;
  await secrets.removeSecret(row.name);
  void showInformation(l10n.t('The secret {0} was removed from {1}.', row.name, hostLabel(host)));
}

/** The selected host. @throws AppError `refused` if it does not store secrets. */
async function hostWithSecrets({ account, hosts }: SecretDeps): Promise<string> {
  const host = hosts.current();
  if (storesSecrets(await account.ask(host))) return host;
  throw new AppError(
    'refused',
    l10n.t(
      'The job service on {0} does not store secrets. Select another service, then run the command again.',
      hostLabel(host),
    ),
  );
}
