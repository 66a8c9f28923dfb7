/** The model that the user selected in the editor, for the flows that it runs; the requests go through the editor. */
export interface SelectedModel {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: string;
}

const VARIABLES = {
  provider: 'FARWHARF_SELECTED_PROVIDER',
  model: 'FARWHARF_SELECTED_MODEL',
  baseUrl: 'FARWHARF_SELECTED_URL',
} as const;

/** The variables that pass a selected model to the process of a flow. */
export function selectedModelVariables({ provider, model, baseUrl }: SelectedModel): Readonly<Record<string, string>> {
  return { [VARIABLES.provider]: provider, [VARIABLES.model]: model, [VARIABLES.baseUrl]: baseUrl };
}

/** The selected model of this process; undefined outside the editor, and if none is selected. */
export function selectedModel(): SelectedModel | undefined {
  const [provider, model, baseUrl] = [VARIABLES.provider, VARIABLES.model, VARIABLES.baseUrl].map(
    (name) => process.env[name],
  );
  return provider && model && baseUrl ? { provider, model, baseUrl } : undefined;
}
