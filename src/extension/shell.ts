import type * as vscode from 'vscode';
import type { JobNode } from './jobs/store/jobNodes.ts';
import type { IndexNode } from './search/index/indexTree.ts';

/** What activation creates; everything else is loaded on first use. */
export interface Shell {
  readonly context: vscode.ExtensionContext;
  /** The extension's own log. */
  readonly output: vscode.LogOutputChannel;
  readonly status: vscode.StatusBarItem;
  readonly jobsView: vscode.TreeView<JobNode>;
  readonly jobsChanged: vscode.EventEmitter<JobNode | undefined>;
  readonly indexView: vscode.TreeView<IndexNode>;
  readonly indexChanged: vscode.EventEmitter<IndexNode | undefined>;
}
