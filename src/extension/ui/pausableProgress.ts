import * as vscode from 'vscode';
import { showProgress } from './show.ts';

interface OpenNotification {
  report(message: string): void;
  close(): void;
}

/**
 * A progress notification with a Cancel button, for work that stops to ask the user something. It is closed meanwhile, because nothing
 * runs then. The next report opens it again.
 */
export class PausableProgress {
  readonly #title: string;
  readonly #cancel = new AbortController();
  #open: OpenNotification | undefined;

  constructor(title: string) {
    this.#title = title;
  }

  /** Aborts when the user cancels. */
  get signal(): AbortSignal {
    return this.#cancel.signal;
  }

  report(message: string): void {
    this.#open ??= this.#show();
    this.#open.report(message);
  }

  close(): void {
    this.#open?.close();
    this.#open = undefined;
  }

  #show(): OpenNotification {
    const closed = Promise.withResolvers<void>();
    let latest = '';
    // The notification opens later.
    let show = (): void => {};
    const options = { location: vscode.ProgressLocation.Notification, title: this.#title, cancellable: true };
    void showProgress(options, (progress, token) => {
      show = () => progress.report({ message: latest });
      show();
      token.onCancellationRequested(() => this.#cancel.abort());
      return closed.promise;
    });
    return {
      report: (message) => {
        latest = message;
        show();
      },
      close: closed.resolve,
    };
  }
}
