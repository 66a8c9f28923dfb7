import type { FromCanvas, ToCanvas } from './messages.ts';

interface VsCodeApi {
  postMessage(message: FromCanvas): void;
}

// The only name that VS Code puts into a webview. It may be asked for once.
declare const acquireVsCodeApi: () => VsCodeApi;

/** The extension, as the page sees it. */
export class Host {
  readonly #api = acquireVsCodeApi();

  send(message: FromCanvas): void {
    this.#api.postMessage(message);
  }

  /** VS Code's messages come from the frame around the page; nobody else can send any. */
  listen(listener: (message: ToCanvas) => void): void {
    window.addEventListener('message', ({ data }: MessageEvent<ToCanvas>) => listener(data));
  }
}
