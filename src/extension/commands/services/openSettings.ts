import * as vscode from 'vscode';
import type { Command } from '../command.ts';

export const openSettings: Command = () =>
  vscode.commands.executeCommand('workbench.action.openSettings', '@ext:farwharf.farwharf');
