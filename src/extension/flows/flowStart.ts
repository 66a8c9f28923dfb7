import * as vscode from 'vscode';
import { CANVAS_TYPE } from '../contributions/names.ts';
import { loadWhenOpened } from '../ui/loadWhenOpened.ts';
import type { Flows } from './flows.ts';
import { looksLikeFlow } from './documents/flowText.ts';

/** Loads flows when the first flow file is opened or a canvas is restored: most windows have neither. */
export function startFlowsWhereNeeded(
  load: () => Promise<Flows>,
  report: (error: unknown) => Promise<void>,
): vscode.Disposable {
  const canvases = vscode.window.registerWebviewPanelSerializer(CANVAS_TYPE, {
    deserializeWebviewPanel: async (panel, state) => {
      try {
        await (await load()).canvases.restore(panel, state);
      } catch (error) {
        panel.dispose();
        await report(error);
      }
    },
  });
  return vscode.Disposable.from(loadWhenOpened(looksLikeFlow, load, report), canvases);
}
