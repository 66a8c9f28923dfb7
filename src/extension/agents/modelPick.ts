import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { CLOUDS } from '../../agents/llm/clouds.ts';
import { type Endpoint, PROVIDER_NAMES, requestUrl, resolveEndpoint } from '../../agents/llm/providers.ts';
import { AppError, messageOf } from '../../core/errors.ts';
import { writeUserSetting } from '../contributions/config.ts';
import { explain } from '../ui/errorText.ts';
import type { Keys } from '../account/keys.ts';
import { pickOne } from '../ui/picks.ts';
import { EDITOR_PROVIDER, endpointOf, type ModelSettings, placeOf, requireSafeForKey } from './modelChoice.ts';
import { listModels } from './modelList.ts';
import { keyFor } from './models.ts';
import { askText, showProgress, type PickItem } from '../ui/show.ts';
import { label, withoutIcons } from '../ui/labels.ts';

const TITLE = l10n.t('Select a model');

type Source =
  | { readonly type: 'editor'; readonly model: vscode.LanguageModelChat }
  | { readonly type: 'provider'; readonly endpoint: Endpoint }
  | { readonly type: 'address'; readonly example: string };

interface SourceItem extends PickItem {
  readonly source?: Source;
}

/** Lets the user choose the model for answers, and asks for its key if it needs one. False if the user cancelled. */
export async function selectModel(keys: Keys): Promise<boolean> {
  const chosen = await pickOne<SourceItem>({
    title: TITLE,
    placeholder: l10n.t('Before anything is sent to the model, you see what it is.'),
    items: await sourceItems(keys),
    onButton: ({ item }, pick) => {
      if (item.source?.type !== 'provider') return;
      const { baseUrl } = item.source.endpoint;
      const forget = async (): Promise<void> => {
        await keys.delete(baseUrl);
        pick.items = await sourceItems(keys);
      };
      void forget();
    },
  });
  if (chosen === undefined || chosen === 'back' || chosen.source === undefined) return false;
  const { source } = chosen;
  if (source.type === 'editor') {
    await writeSettings({ provider: EDITOR_PROVIDER, name: source.model.id, baseUrl: '' });
    return true;
  }
  const endpoint = source.type === 'provider' ? source.endpoint : await askAddress(source.example);
  if (endpoint === undefined) return false;
  const name = await chooseName(endpoint, keys);
  if (name === undefined) return false;
  await writeSettings(
    source.type === 'provider'
      ? { provider: endpoint.provider, name, baseUrl: '' }
      : { provider: '', name, baseUrl: requestUrl(endpoint) },
  );
  return true;
}

async function sourceItems(keys: Keys): Promise<SourceItem[]> {
  const section = (label: string): SourceItem => ({
    label: withoutIcons(label),
    kind: vscode.QuickPickItemKind.Separator,
  });
  const editor = (await vscode.lm.selectChatModels()).map((model): SourceItem => {
    return {
      label: label`$(vscode) ${model.name}`,
      description: withoutIcons(model.vendor),
      source: { type: 'editor', model },
    };
  });
  const endpoints = PROVIDER_NAMES.map((provider) => endpointOf({ provider })).filter((one) => one !== undefined);
  const local = endpoints.filter(({ needsKey }) => !needsKey);
  const hosted = endpoints.filter(({ needsKey }) => needsKey);
  const clouds = Object.entries(CLOUDS).flatMap(([name, { example }]): SourceItem[] => {
    const isListed = hosted.some(({ provider }) => provider === name);
    const source = { type: 'address', example } as const;
    return isListed
      ? []
      : [{ label: label`$(cloud) ${name}…`, description: label`${l10n.t('asks for its address')}`, source }];
  });
  const address = {
    label: label`$(add) ${l10n.t('Another URL…')}`,
    description: label`${l10n.t('any OpenAI-compatible service')}`,
  };
  return [
    ...(editor.length > 0 ? [section(l10n.t('in VS Code')), ...editor] : []),
    section(l10n.t('on this machine, nothing leaves it')),
    ...(await Promise.all(local.map((endpoint) => providerItem(endpoint, keys)))),
    section('services'),
    ...(await Promise.all(hosted.map((endpoint) => providerItem(endpoint, keys)))),
    { ...address, source: { type: 'address', example: 'https://models.example.org/v1' } },
    ...(clouds.length > 0 ? [section(l10n.t('in your cloud')), ...clouds] : []),
  ];
}

async function providerItem(endpoint: Endpoint, keys: Keys): Promise<SourceItem> {
  const hasKey = (await keys.get(endpoint.baseUrl)) !== undefined;
  const forget = { iconPath: new vscode.ThemeIcon('trash'), tooltip: l10n.t('Forget the key') };
  return {
    label: label`$(${endpoint.needsKey ? 'cloud' : 'vm'}) ${endpoint.provider}`,
    description: label`${[placeOf(endpoint), ...(hasKey ? [l10n.t('key stored')] : [])].join(' · ')}`,
    buttons: hasKey ? [forget] : [],
    source: { type: 'provider', endpoint },
  };
}

async function askAddress(example: string): Promise<Endpoint | undefined> {
  const address = await askText({
    title: TITLE,
    prompt: l10n.t('Enter the URL of an OpenAI-compatible service, such as {0}', example),
    placeHolder: example,
    ignoreFocusOut: true,
    validateInput: (text) => {
      try {
        resolveEndpoint({ baseUrl: text.trim() });
        return undefined;
      } catch (error) {
        return messageOf(error);
      }
    },
  });
  return address === undefined ? undefined : resolveEndpoint({ baseUrl: address.trim() });
}

/** A model from the endpoint's list, or a typed name if it returns none. Asks for the key until the endpoint accepts it. */
async function chooseName(endpoint: Endpoint, keys: Keys): Promise<string | undefined> {
  let problem = '';
  for (;;) {
    const key = await keyFor(endpoint, keys);
    if (problem !== '' || (key === undefined && endpoint.needsKey)) {
      if (!(await askKey(endpoint, keys, problem))) return undefined;
    }
    try {
      return await pickName(endpoint, await list(endpoint, await keyFor(endpoint, keys)));
    } catch (error) {
      if (!(error instanceof AppError) || (error.code !== 'not-signed-in' && error.code !== 'unreachable')) throw error;
      if (error.code === 'unreachable') return typeName(endpoint, error.message);
      problem = explain(error).sentence;
    }
  }
}

async function list(endpoint: Endpoint, key: string | undefined): Promise<readonly string[]> {
  const progress = {
    location: vscode.ProgressLocation.Window,
    title: l10n.t('Loading the models of {0}', placeOf(endpoint)),
  };
  return showProgress(progress, () => listModels(endpoint, key));
}

async function pickName(endpoint: Endpoint, names: readonly string[]): Promise<string | undefined> {
  if (names.length === 0) return typeName(endpoint, l10n.t('{0} has no models yet.', placeOf(endpoint)));
  const items = names.map((name) => ({ label: withoutIcons(name), name }));
  const usual = items.find(({ name }) => name === endpoint.model);
  const chosen = await pickOne<PickItem & { readonly name: string }>({
    title: l10n.t('Select a model at {0}', placeOf(endpoint)),
    placeholder: l10n.t('Select a model, or type the name of another one'),
    items,
    ...(usual === undefined ? {} : { active: usual }),
    typed: (text) => ({ label: withoutIcons(text), description: label`${l10n.t('as typed')}`, name: text }),
  });
  return chosen === 'back' ? undefined : chosen?.name;
}

async function typeName(endpoint: Endpoint, problem: string): Promise<string | undefined> {
  const name = await askText({
    title: l10n.t('Select a model at {0}', placeOf(endpoint)),
    prompt: `${problem} ${l10n.t('Enter the name of the model, or press Escape.')}`,
    value: endpoint.model,
    ignoreFocusOut: true,
  });
  return name === undefined || name.trim() === '' ? undefined : name.trim();
}

async function askKey(endpoint: Endpoint, keys: Keys, problem: string): Promise<boolean> {
  requireSafeForKey(endpoint);
  const place = placeOf(endpoint);
  const key = await askText({
    title: l10n.t('Key for {0}', place),
    prompt: problem || l10n.t('The key is stored in the system’s secret storage and sent only to this host.'),
    placeHolder: l10n.t('API key'),
    password: true,
    ignoreFocusOut: true,
  });
  if (key === undefined || key.trim() === '') return false;
  await keys.set(endpoint.baseUrl, key.trim());
  return true;
}

async function writeSettings({ provider, name, baseUrl }: ModelSettings): Promise<void> {
  await writeUserSetting('model.provider', provider);
  await writeUserSetting('model.name', name);
  await writeUserSetting('model.baseUrl', baseUrl);
}
