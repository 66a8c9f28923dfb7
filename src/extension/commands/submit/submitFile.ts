import * as vscode from 'vscode';
import { submit } from '../../submit/submit.ts';
import { readSubmitArguments } from '../../submit/submitArguments.ts';
import { withArgument } from '../command.ts';

export const submitFile = withArgument(
  (argument) => readSubmitArguments(argument ?? vscode.window.activeTextEditor?.document.uri),
  ({ services }, asked) => submit(services, asked),
);
