import * as vscode from 'vscode';
import { CANVAS_TYPE } from '../contributions/names.ts';
import type { Flows } from './flows.ts';
import { looksLikeFlow } from './documents/flowText.ts';

/** Loads flows when the first flow file is opened or a canvas is restored: most windows have neither. */
export function startFlowsWhereNeeded(
  load: () => Promise<Flows>,
  report: (error: unknown) => Promise<void>,
): vscode.Disposable {
  const watching = vscode.workspace.onDidOpenTextDocument((document) => look(document));
  const look = (document: vscode.TextDocument): void => {
    if (!looksLikeFlow(document)) return;
    watching.dispose();
    load().catch(report);
  };
  for (const document of vscode.workspace.textDocuments) look(document);
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
  return vscode.Disposable.from(watching, canvases);
}
