import * as l10n from '@vscode/l10n';
import { printableLine } from '../../core/text/printable.ts';
import type { JobPort } from '../../remote/tunnel/portChannels.ts';

const MAX_NAME = 40;
/** Programs that serve pages, by their names in a job, and what people call them. */
const PAGE_SERVERS: Readonly<Record<string, string>> = {
  tensorboard: 'TensorBoard',
  jupyter: 'Jupyter',
  'jupyter-lab': 'Jupyter',
  'jupyter-notebook': 'Jupyter',
  'jupyter-server': 'Jupyter',
  jupyterlab: 'Jupyter',
  'dashboard.py': 'Ray dashboard',
  'ray-dashboard': 'Ray dashboard',
  streamlit: 'Streamlit',
  mlflow: 'MLflow',
  marimo: 'marimo',
  'http.server': 'http.server',
};

/** Whether a port is that of a program that is known to serve pages. A program of the user's can have any name. */
export function isPageServer({ process = '' }: JobPort): boolean {
  return Object.hasOwn(PAGE_SERVERS, process);
}

/** `TensorBoard on 6006`, or `Port 6006` if the program is unknown. Names come from the job. */
export function portTitle({ port, process = '' }: JobPort): string {
  const name = Object.hasOwn(PAGE_SERVERS, process) ? PAGE_SERVERS[process] : printableLine(process).slice(0, MAX_NAME);
  return name === undefined || name.trim() === '' ? l10n.t('Port {0}', port) : l10n.t('{0} on {1}', name, port);
}
