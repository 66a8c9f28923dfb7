import * as l10n from '@vscode/l10n';
import { tryParseJson } from '../../../core/jsonFields.ts';
import { askText, pickRow, type PickItem } from '../../ui/show.ts';
import { label, withoutIcons } from '../../ui/labels.ts';

type Inputs = Readonly<Record<string, unknown>>;

interface InputItem extends PickItem {
  readonly key?: string;
}

const RUN: InputItem = { label: label`$(play) ${l10n.t('Run')}`, alwaysShow: true };

/**
 * Asks for the inputs of a run: a list of the keys with their values, each of which can be changed, and Run on top, so that
 * Enter uses the last values.
 *
 * @param needed the keys, with the values that are used at first.
 * @returns undefined if the user cancelled.
 */
export async function askInputs(
  title: string,
  needed: ReadonlyMap<string, unknown>,
  last: Inputs,
): Promise<Inputs | undefined> {
  const keys = [...needed.keys()];
  let inputs: Inputs = Object.fromEntries(keys.map((key) => [key, last[key] ?? needed.get(key) ?? '']));
  for (;;) {
    const items: InputItem[] = keys.map((key) => ({
      label: withoutIcons(key),
      description: withoutIcons(JSON.stringify(inputs[key])),
      key,
    }));
    const picked = await pickRow([RUN, ...items], {
      title,
      placeHolder: l10n.t('Press Enter to run with these inputs, or choose one to change it'),
      matchOnDescription: true,
    });
    if (picked === undefined) return undefined;
    if (picked.key === undefined) return inputs;
    const value = await askValue(picked.key, inputs[picked.key]);
    if (value !== undefined) inputs = { ...inputs, [picked.key]: value.value };
  }
}

async function askValue(key: string, before: unknown): Promise<{ readonly value: unknown } | undefined> {
  const text = await askText({
    title: `shared.${key}`,
    prompt: l10n.t('Enter JSON or plain text'),
    value: typeof before === 'string' ? before : JSON.stringify(before),
    validateInput: (entered) =>
      /^\s*[[{]/.test(entered) && tryParseJson(entered) === undefined
        ? l10n.t('This is not complete JSON yet.')
        : undefined,
  });
  if (text === undefined) return undefined;
  const value = tryParseJson(text);
  return { value: value === undefined ? text : value };
}
